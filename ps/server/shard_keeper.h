#ifndef SHOAL_PS_SERVER_SHARD_KEEPER_H_
#define SHOAL_PS_SERVER_SHARD_KEEPER_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/executor.h"
#include "base/file_system.h"
#include "base/logger.h"
#include "checkpoint/shard_entry.h"
#include "core/done.h"
#include "core/mark_run.h"
#include "core/save_messages.h"
#include "core/session_messages.h"
#include "core/unseen.h"
#include "ps/server/checkpoint_fetcher.h"
#include "ps/server/manifest_fetcher.h"
#include "ps/shard/parameter_shard.h"

namespace shoal {

struct ShardKeeperOptions {
  // Directory that holds the checkpoints' directories. It is on this host's own
  // disk, or on one that all hosts share.
  std::string model_dir;
  // True to load weights only, for evaluation and inference.
  bool weights_only = false;
  // LoadShardOptions::unseen.
  Unseen unseen = Unseen::kInitial;
  // Number of checkpoints to keep on this host's own disk; 0 keeps all. (On a
  // disk that the coordinator uses, the coordinator removes old ones.)
  int keep_checkpoints = 0;
  // If the checkpoint that the job begins from is not whole on this host, its
  // files are fetched from the coordinator, which has them on its own disk.
  // This is then the name of this process in the names of temporary files
  // (FetchedFile::Options::tag). Empty: the files must be here.
  std::string fetch_as;
  // Time for which sealing waits for requests in progress.
  absl::Duration seal_timeout = absl::Seconds(10);
};

// A PS's part in checkpoints. At the coordinator's requests, the keeper seals
// the shard, writes it, unseals it, syncs the written file, and loads a shard,
// for which it may fetch files from the coordinator. It removes a file that it
// wrote for a checkpoint that became void. Work that takes long runs on the
// background executor, so that heartbeats go on while a disk hangs; pushes go
// on too once the shard is written. All other work runs on the control strand.
class ShardKeeper : public std::enable_shared_from_this<ShardKeeper> {
 public:
  // `files` may be null if no checkpoint is ever saved or loaded. All arguments
  // must outlive the keeper's last task.
  ShardKeeper(ShardKeeperOptions options, const FileSystem* files,
              Executor* control, Executor* background, Logger* logger);

  // Tells the keeper that the process has a life, during which `ask` sends
  // requests to the coordinator. Stop ends the use of `ask`.
  void Join(absl::AnyInvocable<void(ProcessMessage)> ask);

  // Loads a shard; `done` runs on the control strand. The manifest is read from
  // this host's disk if it is there, and fetched from the coordinator if not.
  // With ShardKeeperOptions::fetch_as, so are files and blocks that are missing
  // or damaged here, once loading has failed for that reason.
  void Load(LoadFrom from, ParameterShardOptions shard, Executor* completions,
            Done<std::shared_ptr<ParameterShard>> done);

  // Begins the work on `shard`. `send` sends all new marks and then an answer
  // on the session. Stop ends the use of both.
  void Start(std::shared_ptr<ParameterShard> shard,
             absl::AnyInvocable<void(ProcessMessage)> send);
  void Stop();

  void On(const Hold& hold);
  void On(const Resume& resume);
  void On(const SaveShard& save);
  void On(const CheckpointVoid& is_void);
  void On(const CheckpointDone& done);
  void On(const ManifestPart& part) { manifests_.On(part); }
  void On(FilePart part);
  // Answers with the marks with which the shard was loaded.
  void On(const MarkRunsRequest& request);
  // Runs `then`, on the control strand, when the manifests of all
  // CheckpointDone messages so far are copied to this disk, or cannot be
  // copied.
  void AfterManifests(absl::AnyInvocable<void()> then);
  // Tells the keeper that the coordinator has the marks, so that it can drop
  // them.
  void ForgetMarkRuns() { mark_runs_ = nullptr; }

 private:
  struct Loading;  // a Load in progress

  // Goes on with the text of the manifest. Runs on the background executor.
  void LoadBy(std::shared_ptr<Loading> loading,
              absl::StatusOr<std::string> text);
  void Finish(std::shared_ptr<Loading> loading,
              absl::StatusOr<std::shared_ptr<ParameterShard>> loaded);
  // Runs on the background executor. NOT_FOUND if this disk does not have this
  // manifest.
  absl::StatusOr<std::string> FindManifest(const std::string& directory,
                                           ManifestName name) const;
  // Fetches the coordinator's copy. `done` runs on the background executor.
  void FetchManifest(std::string directory, ManifestOffer offer,
                     Done<std::string> done);
  void KeepManifest(const std::string& directory,
                    const absl::StatusOr<std::string>& text);
  void OnKept();
  void SendMarkRuns(uint64_t offset);
  void OnSealed(uint64_t number, const std::shared_ptr<ParameterShard>& shard,
                const absl::Status& status);
  void OnWritten(const SaveShard& save,
                 const std::shared_ptr<ParameterShard>& shard,
                 const absl::Status& status);
  void OnSynced(const SaveShard& save,
                const std::shared_ptr<ParameterShard>& shard,
                absl::StatusOr<ShardEntry> entry);
  // Removes the file that was written for a checkpoint that became void.
  void Discard();
  void Release();
  void Send(ProcessMessage message);

  const ShardKeeperOptions options_;
  const FileSystem* const files_;
  Executor* const control_;
  Executor* const background_;
  Logger* const logger_;

  ManifestFetcher manifests_;
  const std::shared_ptr<CheckpointFetcher> fetcher_;  // null: fetches nothing
  int keeping_ = 0;  // manifests that are not copied yet
  std::vector<absl::AnyInvocable<void()>> after_manifests_;
  // The marks with which the shard was loaded; null before they are requested.
  std::shared_ptr<const std::vector<MarkRun>> mark_runs_;
  std::shared_ptr<ParameterShard> shard_;
  absl::AnyInvocable<void(ProcessMessage)> send_;
  uint64_t hold_ = 0;  // number of the newest Hold; 0: none in force
  bool sealed_ = false;
  // The number of the newest SaveShard, until its checkpoint is done or void;
  // then 0.
  uint64_t save_ = 0;
  std::shared_ptr<std::atomic<bool>> cancel_;  // cancels that save
  // The file that is written and not yet part of a checkpoint; empty if there
  // is no such file.
  std::string written_directory_;
  std::string written_file_;
};

}  // namespace shoal

#endif  // SHOAL_PS_SERVER_SHARD_KEEPER_H_
