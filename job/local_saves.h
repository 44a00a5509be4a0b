#ifndef SHOAL_JOB_LOCAL_SAVES_H_
#define SHOAL_JOB_LOCAL_SAVES_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/executor.h"
#include "base/logger.h"
#include "core/cluster_service.h"
#include "job/model_directory.h"
#include "rpc/save_socket.h"

namespace shoal {

// The way by which `shoal ckpt save MODEL_DIR` reaches a job from the job's own
// host: the process with the coordinator listens on a Unix socket of mode 0600
// in a new directory of mode 0700, and the file LOCK of the model directory
// names the socket. job/running_job.h finds it again.
//
// The directory is /tmp/shoal-XXXXXX, or is in the place of /tmp that TMPDIR
// names. It is not in XDG_RUNTIME_DIR, which systemd empties when the user logs
// out, while jobs under nohup or tmux go on (docs/decisions/0018). A process
// that is killed leaves the socket behind; the next job of this user that
// listens on this host removes it.
class LocalSaves {
 public:
  // Listens, and writes the socket's path into the lock's file. nullptr: `lock`
  // is not that of a model directory, or it did not work; then a warning says
  // why, and the job goes on without. `job` is the job's label. All arguments
  // outlive the result.
  static std::unique_ptr<LocalSaves> Open(const std::string& job,
                                          OutputLock* lock,
                                          ClusterService* cluster,
                                          Executor* executor, Logger* logger);
  // Ends calls (SaveSocket), and removes the socket and its directory.
  ~LocalSaves();
  // Removes the socket that `lock_text`, the text of LOCK, names, with its
  // directory, if nothing listens there: its job was killed. Thread-safe.
  static void RemoveDead(absl::string_view lock_text);
  // Removes the socket and its directory without ending calls, for a process
  // that ends at once. Thread-safe.
  void RemoveFiles() const;
  LocalSaves(const LocalSaves&) = delete;
  LocalSaves& operator=(const LocalSaves&) = delete;

 private:
  explicit LocalSaves(std::string directory)
      : directory_(std::move(directory)) {}
  static absl::StatusOr<std::unique_ptr<LocalSaves>> Make(
      const std::string& job, OutputLock* lock, ClusterService* cluster,
      Executor* executor);

  const std::string directory_;
  std::unique_ptr<SaveSocket> socket_;
};

// The line of LOCK that names a job's socket, and the values that it holds.
struct SocketLine {
  std::string host;  // the name of the job's host
  std::string path;

  std::string ToString() const;
  // From the text of LOCK; NOT_FOUND: no such line.
  static absl::StatusOr<SocketLine> Find(absl::string_view text);
};

}  // namespace shoal

#endif  // SHOAL_JOB_LOCAL_SAVES_H_
