#ifndef SHOAL_PS_SHARD_WRITTEN_SHARD_H_
#define SHOAL_PS_SHARD_WRITTEN_SHARD_H_

#include <memory>

#include "absl/status/statusor.h"
#include "checkpoint/safetensors_writer.h"
#include "checkpoint/shard_entry.h"
#include "ps/shard/shard_checkpoint.h"

namespace shoal {

// A shard's file that has every byte, and is neither synced nor under its own
// name yet. The shard may change again: nothing of it is looked at any more.
// Thread-compatible; the file system of the options outlives this.
class WrittenShard {
 public:
  WrittenShard(std::unique_ptr<SafetensorsWriter> writer, ShardEntry entry,
               SaveShardOptions options);
  // Removes the file unless Commit returned OK. May wait for the disk.
  ~WrittenShard() = default;

  // Syncs the file, which a bad disk may put off for ever, and gives it its
  // name. Returns what the manifest says of the shard. Call once.
  //
  // Errors: CANCELLED (options.cancelled), FAILED_PRECONDITION (the directory
  // has become a checkpoint without this shard), the file system's.
  absl::StatusOr<ShardEntry> Commit();

 private:
  const std::unique_ptr<SafetensorsWriter> writer_;
  const ShardEntry entry_;
  const SaveShardOptions options_;
};

}  // namespace shoal

#endif  // SHOAL_PS_SHARD_WRITTEN_SHARD_H_
