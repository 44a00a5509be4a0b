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
#include "ps/server/manifest_fetcher.h"
#include "ps/shard/parameter_shard.h"

namespace shoal {

struct ShardKeeperOptions {
  // Holds the checkpoints' directories: this host's own, or one that all share.
  std::string model_dir;
  // Load weights alone, for evaluation and inference.
  bool weights_only = false;
  // Checkpoints to keep where the disk is this host's own; 0: all. (On the
  // coordinator's disk it sees to that.)
  int keep_checkpoints = 0;
  // How long sealing waits for requests in progress.
  absl::Duration seal_timeout = absl::Seconds(10);
};

// A PS's part in checkpoints: seals its shard, writes it, lets it go, syncs
// what it wrote, loads it, as the coordinator says, and removes what it wrote
// for one that became void. What takes long runs on a thread of its own, so
// that heartbeats go on while a disk hangs, and pushes too once the shard is
// written. Everything else belongs to the control strand.
class ShardKeeper : public std::enable_shared_from_this<ShardKeeper> {
 public:
  // `files` may be null where no checkpoint is ever saved or loaded. All
  // outlive the keeper's last task.
  ShardKeeper(ShardKeeperOptions options, const FileSystem* files,
              Executor* control, Executor* background, Logger* logger)
      : options_(std::move(options)),
        files_(files),
        control_(control),
        background_(background),
        logger_(logger) {}

  // The process has a life, in which `ask` sends requests to the coordinator.
  // Stop ends it.
  void Join(absl::AnyInvocable<void(ProcessMessage)> ask);

  // Loads a shard; `done` runs on the control strand. The manifest is read from
  // the disk where it is there; otherwise the coordinator is asked for it.
  void Load(LoadFrom from, ParameterShardOptions shard, Executor* completions,
            Done<std::shared_ptr<ParameterShard>> done);

  // `send` sends an answer on the session, all new marks before it. Both belong
  // to the life; Stop ends it.
  void Start(std::shared_ptr<ParameterShard> shard,
             absl::AnyInvocable<void(ProcessMessage)> send);
  void Stop();

  void On(const Hold& hold);
  void On(const Resume& resume);
  void On(const SaveShard& save);
  void On(const CheckpointVoid& is_void);
  void On(const CheckpointDone& done);
  void On(const ManifestPart& part) { manifests_.On(part); }
  // Tells of the marks with which the shard was loaded.
  void On(const MarkRunsRequest& request);
  // Runs `then`, on the control strand, when the copies of all manifests that
  // CheckpointDone told of so far are there, or cannot be.
  void AfterManifests(absl::AnyInvocable<void()> then);
  // The job has the marks.
  void ForgetMarkRuns() { mark_runs_ = nullptr; }

 private:
  // On the background thread. NOT_FOUND: this disk does not have this manifest.
  absl::StatusOr<std::string> FindManifest(const std::string& directory,
                                           ManifestName name) const;
  // The coordinator's copy, to the background thread.
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
  // Removes the file that was written for a checkpoint which became void.
  void Discard();
  void Release();
  void Send(ProcessMessage message);

  const ShardKeeperOptions options_;
  const FileSystem* const files_;
  Executor* const control_;
  Executor* const background_;
  Logger* const logger_;

  ManifestFetcher manifests_;
  int keeping_ = 0;  // manifests that are not there yet
  std::vector<absl::AnyInvocable<void()>> after_manifests_;
  // Of the shard, as it was loaded; null: not asked for.
  std::shared_ptr<const std::vector<MarkRun>> mark_runs_;
  std::shared_ptr<ParameterShard> shard_;
  absl::AnyInvocable<void(ProcessMessage)> send_;
  uint64_t hold_ = 0;  // of the newest Hold; 0: none in force
  bool sealed_ = false;
  // Of the newest SaveShard that is neither void nor a checkpoint; 0: none.
  uint64_t save_ = 0;
  std::shared_ptr<std::atomic<bool>> cancel_;  // of that save
  // What was written and is not yet part of a checkpoint; empty: nothing.
  std::string written_directory_;
  std::string written_file_;
};

}  // namespace shoal

#endif  // SHOAL_PS_SERVER_SHARD_KEEPER_H_
