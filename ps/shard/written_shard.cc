#include "ps/shard/written_shard.h"

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/path.h"
#include "base/status_macros.h"
#include "checkpoint/checkpoint_directory.h"

namespace shoal {

WrittenShard::WrittenShard(std::unique_ptr<SafetensorsWriter> writer,
                           ShardEntry entry, SaveShardOptions options)
    : writer_(std::move(writer)),
      entry_(std::move(entry)),
      options_(std::move(options)) {}

absl::StatusOr<ShardEntry> WrittenShard::Commit() {
  SHOAL_RETURN_IF_ERROR(writer_->Sync());
  // The sync may have taken so long that the job committed a checkpoint without
  // this shard. A cancelled save must not change that checkpoint.
  if (options_.cancelled != nullptr && options_.cancelled()) {
    return absl::CancelledError("the save was cancelled");
  }
  const std::string manifest = JoinPath(options_.directory, kManifestFile);
  if (options_.files->OpenForRead(manifest).ok()) {
    return absl::FailedPreconditionError(absl::StrCat(
        options_.directory,
        ": the directory has become a checkpoint without this shard"));
  }
  SHOAL_RETURN_IF_ERROR(writer_->Commit().status());
  return entry_;
}

}  // namespace shoal
