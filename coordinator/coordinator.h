#ifndef SHOAL_COORDINATOR_COORDINATOR_H_
#define SHOAL_COORDINATOR_COORDINATOR_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "base/executor.h"
#include "base/logger.h"
#include "checkpoint/manifest.h"
#include "checkpoint/manifest_parts.h"
#include "cluster/job_report.h"
#include "coordinator/coordinator_options.h"
#include "core/cluster_service.h"
#include "core/done.h"
#include "core/registration.h"
#include "core/save_messages.h"

namespace shoal {

// The functions and the strand with which a coordinator does its slow work.
struct CoordinatorWork {
  // Writes the manifest of a checkpoint into the directory of this name below
  // the model directory, not on the caller's thread; `done` gets its text. The
  // files of the shards are written already, in the same directory or on the
  // disks of other hosts.
  using WriteManifest = absl::AnyInvocable<void(
      std::string directory, Manifest manifest, Done<ManifestText> done)>;
  // Reads the bytes of a request from a file of the checkpoint that the job
  // began from, not on the caller's thread. The coordinator has checked the
  // request against the checkpoint's manifest.
  using ReadFile =
      absl::AnyInvocable<void(FileRequest request, Done<std::string> done)>;

  // A strand (one thread) on which evaluations are worked out and predictions
  // written, so that heartbeats do not wait for them; nullptr: the
  // coordinator's own strand. Must be shut down before the coordinator's
  // strand.
  Executor* strand = nullptr;
  // Takes the scores of an inference, rows × C in the order of the input;
  // `last`: there are no more. Runs on that strand. REQUIRES: set if the job
  // infers.
  std::function<absl::Status(absl::Span<const float> logits, bool last)>
      write_predictions;
  // REQUIRES: set if options.checkpoints.save.
  WriteManifest write_manifest;
  // Null: this coordinator sends no files.
  ReadFile read_file;
  // Finds out whether connections to a process's address are refused, so that
  // no process listens there any more. `done` gets the answer, or false if
  // nothing is known, not on the caller's thread. Null: the coordinator waits
  // for every process whose connection broke.
  std::function<void(std::string address,
                     absl::AnyInvocable<void(bool refused) &&> done)>
      probe;
};

// The one coordinator of a job, in process (in PS 0, or beside the worker of
// `shoal train`). Drives the pure CoordinatorState with messages and time on
// its executor, on which all callbacks run. Thread-safe.
//
// Register answers at once. A request that the strand comes to after its
// timeout gets no life (DEADLINE_EXCEEDED), since no process waits for the
// answer. A connection may have at most kMaxQueuedMessages messages that the
// strand has not taken, of kMaxQueuedBytes together, or a single larger
// message. One message more ends the connection and the life
// (RESOURCE_EXHAUSTED). A connection that is destroyed suspends the life, and
// the session may be resumed over another connection.
class Coordinator final : public ClusterService {
 public:
  static constexpr int kMaxQueuedMessages = 16'384;
  static constexpr uint64_t kMaxQueuedBytes = 256 << 20;

  // `executor` must be a strand (one thread). It and `logger` (nullptr: nothing
  // is logged) must outlive the coordinator and its sessions. The start
  // deadline runs from this call.
  static std::unique_ptr<Coordinator> Create(CoordinatorOptions options,
                                             Executor* executor,
                                             Logger* logger = nullptr,
                                             CoordinatorWork work = {});
  // Ends the open sessions (UNAVAILABLE), on the executor.
  ~Coordinator() override;

  void Register(RegisterRequest request, absl::Duration timeout,
                Done<RegisterReply> done) override;
  std::unique_ptr<ClusterSession> OpenSession(SessionOpening opening,
                                              SessionHandler handler) override;
  void SaveCheckpoint(SaveCheckpointRequest request, absl::Duration timeout,
                      Done<SavedCheckpoint> done) override;

  // `done` runs once, on the executor, when the job is over and every process
  // has said Bye or `linger` has passed. One call at a time.
  void OnFinished(absl::AnyInvocable<void(const JobReport&)> done);

  // The job as it is now, for the progress line. Any thread.
  JobReport Report() const;

  // Ends the job with `reason`, as when a signal asks for it. Does nothing if
  // the job is over already.
  void Stop(absl::Status reason);
  // Stop, after a checkpoint is saved if the job saves any.
  void SaveAndStop(absl::Status reason);

 private:
  class Impl;
  class Session;
  explicit Coordinator(std::shared_ptr<Impl> impl);

  const std::shared_ptr<Impl> impl_;
};

}  // namespace shoal

#endif  // SHOAL_COORDINATOR_COORDINATOR_H_
