#ifndef SHOAL_PS_SERVER_CHECKPOINT_FETCHER_H_
#define SHOAL_PS_SERVER_CHECKPOINT_FETCHER_H_

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/executor.h"
#include "base/file_system.h"
#include "base/logger.h"
#include "checkpoint/fetched_file.h"
#include "core/ids.h"
#include "core/save_messages.h"
#include "core/session_messages.h"

namespace shoal {

// Makes a checkpoint, or the part of it that a shard loads, whole on this
// host's disk: gets the files that are not here, and the blocks that are
// damaged here, from the coordinator, which has the checkpoint that the job
// begins from on its own disk.
//
//   idle --Fetch--> files are checked and copied --a block is not here:
//   FileRequest--> asked --FilePart--> files are checked and copied
//   --every file is sound: the manifest is written--> idle
//
// One part of a file is asked for at a time, and one block is in memory. A
// block counts only with the CRC that the manifest has for it. A file gets its
// name when it is whole and on the disk, and the manifest is written last. If
// this directory's manifest is another one, so that the files belong to another
// training, that manifest and those files are set aside as NAME.stale-START. A
// fetch that was cut off goes on where it was (checkpoint/fetched_file.h).
//
// The disk is used on the background executor, all else runs on the control
// strand.
class CheckpointFetcher
    : public std::enable_shared_from_this<CheckpointFetcher> {
 public:
  struct Options {
    std::string model_dir;
    // FetchedFile::Options::tag.
    std::string tag;
  };
  using DoneFetching = absl::AnyInvocable<void(absl::Status) &&>;

  // All arguments must outlive the fetcher's last task.
  CheckpointFetcher(Options options, const FileSystem* files,
                    Executor* control, Executor* background, Logger* logger)
      : options_(std::move(options)),
        files_(files),
        control_(control),
        background_(background),
        logger_(logger) {}

  // `send` sends the requests during one life; Stop ends its use, and a fetch
  // in progress with CANCELLED. On the control strand.
  void Start(absl::AnyInvocable<void(ProcessMessage)> send);
  void Stop();

  // Fetches the files of these shards of the checkpoint `directory`, a name
  // below the model directory, whose manifest has the text `text`. `start` is
  // the number of this start of the job. `done` runs once, on the background
  // executor. One fetch at a time. Call on the background executor. Errors:
  //   DATA_LOSS          a block came without its CRC: the coordinator's file
  //                      is damaged
  //   RESOURCE_EXHAUSTED this disk is full
  //   CANCELLED          Stop
  // and those of the coordinator's disk and of this one. All say which file,
  // and what to do.
  void Fetch(std::string directory, std::string text, StartNumber start,
             std::vector<int> shards, DoneFetching done);
  // Takes the answer to a request. An answer that was not requested is ignored.
  // On the control strand.
  void On(FilePart part);

 private:
  struct Work;  // the fetch in progress
  struct Asked {
    std::shared_ptr<Work> work;
    FileRequest request;
  };

  // On the background executor, for one Work at a time.
  void Advance(const std::shared_ptr<Work>& work);
  // Prepares the directory: OK, or why it cannot take the files.
  absl::Status Begin(Work* work);
  // True if the directory has this manifest, so that its files are ours.
  bool IsOurs(Work* work) const;
  // The part that is needed next; nullopt: all files are here.
  absl::StatusOr<std::optional<FileRequest>> Next(Work* work);
  absl::Status FinishFile(Work* work);
  absl::Status FinishAll(Work* work);
  absl::Status Take(Work* work, const FilePart& part);
  void TellProgress(Work* work);

  // On the control strand.
  void Ask(std::shared_ptr<Work> work, FileRequest request);

  const Options options_;
  const FileSystem* const files_;
  Executor* const control_;
  Executor* const background_;
  Logger* const logger_;

  absl::AnyInvocable<void(ProcessMessage)> send_;  // null: no life
  std::optional<Asked> asked_;
  std::shared_ptr<std::atomic<bool>> stopped_ =
      std::make_shared<std::atomic<bool>>(true);  // the present life's
};

}  // namespace shoal

#endif  // SHOAL_PS_SERVER_CHECKPOINT_FETCHER_H_
