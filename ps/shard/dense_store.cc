#include "ps/shard/dense_store.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/stable_hash.h"
#include "base/status_macros.h"
#include "ps/optimizer/optimizer_step.h"
#include "ps/table/element_digest.h"
#include "ps/table/initial_value.h"

namespace shoal {
namespace {

// The distance, in floats, from one run of weights or slots to the next, which
// is a number of whole cache lines.
uint64_t Padded(uint64_t floats) { return (floats + 15) / 16 * 16; }

uint64_t SlotCount(const ModelSpec& model, const DenseBlock& block) {
  return model.dense[block.variable].optimizer.slot_floats(block.size());
}

}  // namespace

uint64_t DenseStore::BytesOnShard(const ModelSpec& model, const ShardMap& map,
                                  int shard) {
  uint64_t floats = 0;
  for (const DenseBlock& block : map.blocks) {
    if (block.shard == shard) floats += block.size() + SlotCount(model, block);
  }
  return floats * sizeof(float);
}

absl::StatusOr<std::unique_ptr<DenseStore>> DenseStore::Create(
    const ModelSpec& model, const ShardMap& map, int shard) {
  uint64_t floats = 0;
  for (const DenseBlock& block : map.blocks) {
    if (block.shard != shard) continue;
    floats += Padded(block.size()) + Padded(SlotCount(model, block));
  }
  auto memory = ReservedMemory::Create(floats * sizeof(float));
  if (!memory.ok()) return Annotate(memory.status(), "dense blocks");

  auto store = std::unique_ptr<DenseStore>(new DenseStore(model));
  store->memory_ = *std::move(memory);
  float* next = reinterpret_cast<float*>(store->memory_.data());
  for (const DenseBlock& source : map.blocks) {
    if (source.shard != shard) {
      store->local_.push_back(-1);
      continue;
    }
    const DenseSpec& spec = model.dense[source.variable];
    auto block = std::make_unique<Block>();
    block->variable = source.variable;
    block->begin = source.begin;
    block->size = source.size();
    block->slot_count = SlotCount(model, source);
    MutexLock lock(&block->mu);
    block->weights = next;
    next += Padded(block->size);
    block->slots = next;
    next += Padded(block->slot_count);
    FillInitialValues(spec.initializer, InitialValueKey(model.seed, spec.name),
                      block->begin,
                      absl::MakeSpan(block->weights, block->size));
    InitialiseSlots(spec.optimizer,
                    absl::MakeSpan(block->slots, block->slot_count));
    store->local_.push_back(static_cast<int>(store->blocks_.size()));
    store->blocks_.push_back(std::move(block));
  }
  return store;
}

void DenseStore::Gather(uint32_t block, size_t offset,
                        absl::Span<float> values) const {
  const Block& b = At(block);
  SHOAL_DCHECK(offset <= b.size && values.size() <= b.size - offset);
  MutexLock lock(&b.mu);
  std::copy_n(b.weights + offset, values.size(), values.begin());
}

void DenseStore::GatherSlots(uint32_t block, size_t offset,
                             absl::Span<float> values) const {
  const Block& b = At(block);
  SHOAL_DCHECK(offset + values.size() <= b.slot_count);
  MutexLock lock(&b.mu);
  std::copy_n(b.slots + offset, values.size(), values.begin());
}

void DenseStore::Restore(uint32_t block, size_t offset,
                         absl::Span<const float> values) {
  Block& b = At(block);
  SHOAL_DCHECK(offset + values.size() <= b.size);
  MutexLock lock(&b.mu);
  std::copy(values.begin(), values.end(), b.weights + offset);
}

void DenseStore::RestoreSlots(uint32_t block, size_t offset,
                              absl::Span<const float> values) {
  Block& b = At(block);
  SHOAL_DCHECK(offset + values.size() <= b.slot_count);
  MutexLock lock(&b.mu);
  std::copy(values.begin(), values.end(), b.slots + offset);
}

void DenseStore::Apply(uint32_t block, uint64_t t,
                       absl::Span<const float> gradients) {
  Block& b = At(block);
  SHOAL_DCHECK(gradients.size() == b.size);
  const OptimizerStep step(model_.dense[b.variable].optimizer, t);
  MutexLock lock(&b.mu);
  step.Apply(gradients, absl::MakeSpan(b.weights, b.size),
             absl::MakeSpan(b.slots, b.slot_count));
}

std::vector<uint64_t> DenseStore::BytesByVariable() const {
  std::vector<uint64_t> bytes(model_.dense.size());
  for (const auto& block : blocks_) {
    bytes[block->variable] += (block->size + block->slot_count) * sizeof(float);
  }
  return bytes;
}

uint64_t DenseStore::Digest() const {
  uint64_t sum = 0;
  for (const auto& block : blocks_) {
    MutexLock lock(&block->mu);
    sum += ElementDigest(StableHash(model_.dense[block->variable].name),
                         block->begin,
                         absl::MakeSpan(block->weights, block->size));
  }
  return sum;
}

}  // namespace shoal
