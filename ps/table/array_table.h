#ifndef SHOAL_PS_TABLE_ARRAY_TABLE_H_
#define SHOAL_PS_TABLE_ARRAY_TABLE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/ids.h"
#include "core/model_spec.h"
#include "core/shard_map.h"
#include "ps/optimizer/optimizer_step.h"
#include "ps/table/record_layout.h"
#include "ps/table/reserved_memory.h"

namespace shoal {

// One shard's rows of a table with a feature_size, as an array of records
// (record_layout.h) indexed by LocalRow. A row comes into existence at its
// first use, with initial values that depend on nothing but the row
// (initial_value.h); a record's memory is taken at its first write.
//
// Thread-safe: each row is read and updated under its own lock, so a row is
// never torn and concurrent updates of one row all count. Calls over many rows
// are not atomic as a whole.
class ArrayTable {
 public:
  // `seed`: the model's. Errors: INVALID_ARGUMENT (a hash partition, which has
  // no array), RESOURCE_EXHAUSTED (no addresses).
  static absl::StatusOr<std::unique_ptr<ArrayTable>> Create(
      const TableSpec& spec, uint64_t seed, const TablePartition& partition,
      int shard);

  ArrayTable(const ArrayTable&) = delete;
  ArrayTable& operator=(const ArrayTable&) = delete;

  // Whether row `id` belongs to this shard. Any id.
  bool Owns(FeatureId id) const { return LocalOf(id) < rows_owned_; }

  // REQUIRES, below: Owns(every id).

  // How many of the ids name no existing row; fewer once others create them.
  uint64_t CountAbsent(absl::Span<const FeatureId> ids) const;

  // Copies the rows' weights to `values` (ids.size() × row_dim). Absent rows:
  // created, and their number returned; or with read_only their initial values
  // computed and not stored.
  uint64_t Gather(absl::Span<const FeatureId> ids, bool read_only,
                  absl::Span<float> values);

  // Updates the rows by their gradients (ids.size() × row_dim), creating absent
  // ones first; returns how many. steps: one a column. `colour` is noted in
  // the records. REQUIRES: ids distinct.
  uint64_t Apply(absl::Span<const OptimizerStep> steps, uint8_t colour,
                 absl::Span<const FeatureId> ids,
                 absl::Span<const float> gradients);

  const TableSpec& spec() const { return spec_; }
  const RecordLayout& layout() const { return layout_; }
  uint64_t rows_owned() const { return rows_owned_; }
  // Rows in existence.
  uint64_t rows() const { return rows_.load(std::memory_order_relaxed); }
  // The sum of ElementDigest over the rows in existence. Reads them all.
  uint64_t Digest() const;

 private:
  ArrayTable(const TableSpec& spec, uint64_t seed,
             const TablePartition& partition, int shard, uint64_t rows_owned,
             ReservedMemory memory, ReservedMemory slab_rows);

  // Index of a row in the array; rows_owned_ or more if it is another shard's.
  uint64_t LocalOf(FeatureId id) const {
    if (contiguous_) return id - first_;
    return id % num_shards_ == shard_ ? id / num_shards_ : rows_owned_;
  }
  FeatureId IdOf(uint64_t local) const {
    return contiguous_ ? first_ + local : local * num_shards_ + shard_;
  }
  RecordHeader* Header(uint64_t local) const {
    return reinterpret_cast<RecordHeader*>(memory_.data() +
                                           local * layout_.stride());
  }
  static float* Floats(RecordHeader* header) {
    return reinterpret_cast<float*>(header + 1);
  }
  std::atomic_ref<uint32_t> SlabRows(uint64_t slab) const {
    return std::atomic_ref<uint32_t>(
        reinterpret_cast<uint32_t*>(slab_rows_.data())[slab]);
  }
  void Prefetch(FeatureId id, size_t bytes) const;
  void FillInitialRow(FeatureId id, absl::Span<float> weights) const;
  // Gives an absent row its initial values. REQUIRES: its lock held.
  void CreateRow(FeatureId id, uint64_t local, RecordHeader* header);

  const TableSpec spec_;
  const RecordLayout layout_;
  std::vector<uint64_t> initial_keys_;  // by column
  const bool contiguous_;
  const uint64_t first_;  // the first id of a contiguous partition
  const uint64_t num_shards_;
  const uint64_t shard_;
  const uint64_t rows_owned_;
  const ReservedMemory memory_;
  std::atomic<uint64_t> rows_{0};
  // Rows in existence by slab, one uint32_t each, used atomically: a walk skips
  // memory never written.
  const ReservedMemory slab_rows_;
};

}  // namespace shoal

#endif  // SHOAL_PS_TABLE_ARRAY_TABLE_H_
