#ifndef SHOAL_PS_TABLE_ARRAY_TABLE_H_
#define SHOAL_PS_TABLE_ARRAY_TABLE_H_

#include <atomic>
#include <cstdint>
#include <memory>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/ids.h"
#include "core/model_spec.h"
#include "core/shard_map.h"
#include "ps/table/embedding_table.h"
#include "ps/table/reserved_memory.h"

namespace shoal {

// A table with a feature_size: an array of records indexed by LocalRow. The
// memory of a record is allocated at its first write, and counted against the
// budget when its row comes into existence. Thread-safe, as EmbeddingTable.
class ArrayTable final : public EmbeddingTable {
 public:
  // Errors: INVALID_ARGUMENT (the partition is not for an array),
  // RESOURCE_EXHAUSTED (no addresses). `budget` must outlive the table.
  static absl::StatusOr<std::unique_ptr<ArrayTable>> Create(
      const TableSpec& spec, uint64_t seed, const TablePartition& partition,
      int shard, MemoryBudget* budget);

  // True if row `id` belongs to this shard. `id` may be any number.
  bool Owns(FeatureId id) const { return LocalOf(id) < rows_owned_; }
  uint64_t rows_owned() const { return rows_owned_; }

  absl::Status CheckIds(absl::Span<const FeatureId> ids) const override;
  absl::Status Locate(absl::Span<const FeatureId> ids, bool read_only,
                      RowRefs* refs) override;
  void ForEachRecord(
      absl::FunctionRef<void(FeatureId, RecordHeader*)> visit) const override;
  // Rows lie by ascending id.
  void ForEachRecordInOrder(
      absl::FunctionRef<void(FeatureId, RecordHeader*)> visit) const override {
    ForEachRecord(visit);
  }

 private:
  ArrayTable(const TableSpec& spec, uint64_t seed,
             const TablePartition& partition, int shard, uint64_t rows_owned,
             ReservedMemory memory, ReservedMemory slabs_used,
             MemoryBudget* budget);

  // The index of a row in the array; rows_owned_ or more if the row belongs to
  // another shard.
  uint64_t LocalOf(FeatureId id) const {
    if (contiguous_) return id - first_;
    return id % num_shards_ == shard_ ? id / num_shards_ : rows_owned_;
  }
  FeatureId IdOf(uint64_t local) const {
    return contiguous_ ? first_ + local : local * num_shards_ + shard_;
  }
  RecordHeader* Record(uint64_t local) const {
    return reinterpret_cast<RecordHeader*>(memory_.data() +
                                           local * layout().stride());
  }
  std::atomic_ref<uint8_t> SlabUsed(uint64_t slab) const {
    return std::atomic_ref<uint8_t>(
        reinterpret_cast<uint8_t*>(slabs_used_.data())[slab]);
  }
  // Reserves bytes for the rows of `refs` that may have to be created.
  absl::Status Promise(RowRefs* refs) const;

  const bool contiguous_;
  const uint64_t first_;  // the first id of a contiguous partition
  const uint64_t num_shards_;
  const uint64_t shard_;
  const uint64_t rows_owned_;
  const ReservedMemory memory_;
  // One byte per slab, used atomically. It is not 0 once a row in the slab may
  // exist, so that a walk skips memory that was never written.
  const ReservedMemory slabs_used_;
};

}  // namespace shoal

#endif  // SHOAL_PS_TABLE_ARRAY_TABLE_H_
