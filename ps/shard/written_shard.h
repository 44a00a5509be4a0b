#ifndef SHOAL_PS_SHARD_WRITTEN_SHARD_H_
#define SHOAL_PS_SHARD_WRITTEN_SHARD_H_

#include <memory>

#include "absl/status/statusor.h"
#include "checkpoint/safetensors_writer.h"
#include "checkpoint/shard_entry.h"
#include "ps/shard/shard_checkpoint.h"

namespace shoal {

// A shard's file to which every byte is written, but which is not yet synced
// and still has a temporary name. This object does not refer to the shard,
// which may change again. Thread-compatible; the file system of the options
// must outlive this object.
class WrittenShard {
 public:
  WrittenShard(std::unique_ptr<SafetensorsWriter> writer, ShardEntry entry,
               SaveShardOptions options);
  // Removes the file unless Commit has returned OK. May wait for the disk.
  ~WrittenShard() = default;

  // Syncs the file, which may never end on a bad disk, and gives it its final
  // name. Returns the shard's entry in the manifest. Call once.
  //
  // Errors: CANCELLED (options.cancelled), FAILED_PRECONDITION (the directory
  // has become a checkpoint without this shard), and the file system's errors.
  absl::StatusOr<ShardEntry> Commit();

 private:
  const std::unique_ptr<SafetensorsWriter> writer_;
  const ShardEntry entry_;
  const SaveShardOptions options_;
};

}  // namespace shoal

#endif  // SHOAL_PS_SHARD_WRITTEN_SHARD_H_
