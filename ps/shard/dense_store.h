#ifndef SHOAL_PS_SHARD_DENSE_STORE_H_
#define SHOAL_PS_SHARD_DENSE_STORE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "base/check.h"
#include "base/mutex.h"
#include "core/model_spec.h"
#include "core/shard_map.h"
#include "ps/table/reserved_memory.h"

namespace shoal {

// One shard's blocks of the dense variables, each with its slots. New blocks
// have their initial values. Blocks are named by their index in
// ShardMap::blocks. Thread-safe: each block has a lock, so a read never sees
// half of an update.
class DenseStore {
 public:
  // The size of the weights and slots of the shard's blocks, in bytes.
  static uint64_t BytesOnShard(const ModelSpec& model, const ShardMap& map,
                               int shard);

  // RESOURCE_EXHAUSTED if there is no memory. REQUIRES: the map fits the model;
  // the model outlives the store.
  static absl::StatusOr<std::unique_ptr<DenseStore>> Create(
      const ModelSpec& model, const ShardMap& map, int shard);

  // True if the block belongs to this shard. `block` may be any number.
  bool Owns(uint32_t block) const {
    return block < local_.size() && local_[block] >= 0;
  }

  // All methods below REQUIRE Owns(block).

  // The number of elements of the block, and the index of its variable.
  size_t Size(uint32_t block) const { return At(block).size; }
  int Variable(uint32_t block) const { return At(block).variable; }

  // Copies the block's elements from `offset` on. REQUIRES: offset <=
  // Size(block), values.size() <= Size(block) - offset.
  void Gather(uint32_t block, size_t offset, absl::Span<float> values) const;

  // Same as Gather for the block's slots, which lie one slot after another.
  void GatherSlots(uint32_t block, size_t offset,
                   absl::Span<float> values) const;
  // Overwrites weights, or slots, from `offset` on. REQUIRES: they fit.
  void Restore(uint32_t block, size_t offset, absl::Span<const float> values);
  void RestoreSlots(uint32_t block, size_t offset,
                    absl::Span<const float> values);

  // Updates the block as the shard's push number t (optimizer_step.h).
  // REQUIRES: gradients.size() == Size(block).
  void Apply(uint32_t block, uint64_t t, absl::Span<const float> gradients);

  // Bytes held by each dense variable, by its index in the model.
  std::vector<uint64_t> BytesByVariable() const;
  // The sum of ElementDigest over the blocks.
  uint64_t Digest() const;

 private:
  struct Block {
    int variable = 0;
    int64_t begin = 0;  // first element of the variable
    size_t size = 0;
    size_t slot_count = 0;
    mutable Mutex mu;
    float* weights ABSL_PT_GUARDED_BY(mu) = nullptr;
    float* slots ABSL_PT_GUARDED_BY(mu) = nullptr;
  };

  explicit DenseStore(const ModelSpec& model) : model_(model) {}
  const Block& At(uint32_t block) const {
    SHOAL_DCHECK(Owns(block));
    return *blocks_[local_[block]];
  }
  Block& At(uint32_t block) {
    SHOAL_DCHECK(Owns(block));
    return *blocks_[local_[block]];
  }

  const ModelSpec& model_;
  ReservedMemory memory_;
  std::vector<int> local_;  // by block of the map: index below, or -1
  std::vector<std::unique_ptr<Block>> blocks_;
};

}  // namespace shoal

#endif  // SHOAL_PS_SHARD_DENSE_STORE_H_
