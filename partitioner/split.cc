#include "partitioner/split.h"

#include <algorithm>
#include <numeric>

#include "base/check.h"
#include "base/stable_hash.h"
#include "partitioner/fixed_size.h"

namespace shoal {
namespace {

// A counting sort by owner. `owner` is called once for each id. Its results are
// kept in `position` between the passes, so no other memory is needed.
template <typename Owner>
void SplitBy(const TablePartition& partition, absl::Span<const FeatureId> ids,
             const Owner& owner, IdSplit* split) {
  for (size_t i = 0; i < ids.size(); ++i) {
    SHOAL_DCHECK(partition.feature_size == 0 ||
                 ids[i] < partition.feature_size);
    const uint32_t shard = owner(ids[i]);
    SHOAL_DCHECK(shard + 1 < split->begin.size());
    split->position[i] = shard;
    ++split->begin[shard + 1];
  }
  std::partial_sum(split->begin.begin(), split->begin.end(),
                   split->begin.begin());
  for (size_t i = 0; i < ids.size(); ++i) {
    const uint32_t to = split->begin[split->position[i]]++;
    split->position[i] = to;
    split->ids[to] = ids[i];
  }
  // Each begin has advanced to that of the next shard: move all of them back by
  // one.
  std::copy_backward(split->begin.begin(), split->begin.end() - 1,
                     split->begin.end());
  split->begin[0] = 0;
}

// FixedSizePart with divisions of doubles, which a CPU can pipeline, unlike
// divisions of 64-bit integers. The result is exact: ids are below 2^48, so a
// quotient that is not an integer differs from every integer by more than half
// a unit in its last place.
class FixedSizeOwner {
 public:
  explicit FixedSizeOwner(const TablePartition& partition) {
    const uint64_t parts = partition.num_shards;
    const uint64_t shorter = partition.feature_size / parts;
    longer_parts_ = partition.feature_size % parts;
    in_longer_ = longer_parts_ * (shorter + 1);
    shorter_ = static_cast<double>(shorter);
  }

  uint32_t operator()(FeatureId id) const {
    if (id < in_longer_) return Quotient(id, shorter_ + 1);
    return longer_parts_ + Quotient(id - in_longer_, shorter_);
  }

 private:
  static uint32_t Quotient(uint64_t index, double length) {
    return static_cast<uint32_t>(static_cast<double>(index) / length);
  }

  uint32_t longer_parts_;
  uint64_t in_longer_;  // indices of the longer parts
  double shorter_;      // length of the other parts
};

}  // namespace

void SplitIds(const TablePartition& partition, absl::Span<const FeatureId> ids,
              IdSplit* split) {
  SHOAL_DCHECK(partition.kind != PartitionKind::kEveryShard);
  const uint64_t n = partition.num_shards;
  split->ids.resize(ids.size());
  split->position.resize(ids.size());
  split->begin.assign(n + 1, 0);
  if (n == 1) {
    std::copy(ids.begin(), ids.end(), split->ids.begin());
    std::iota(split->position.begin(), split->position.end(), 0);
    split->begin[1] = static_cast<uint32_t>(ids.size());
    return;
  }
  switch (partition.kind) {
    case PartitionKind::kFixedSize:
      return SplitBy(partition, ids, FixedSizeOwner(partition), split);
    case PartitionKind::kMod:
      return SplitBy(
          partition, ids,
          [n](FeatureId id) { return static_cast<uint32_t>(id % n); }, split);
    case PartitionKind::kHash:
      return SplitBy(
          partition, ids,
          [n](FeatureId id) {
            return static_cast<uint32_t>(StableHash(id) % n);
          },
          split);
    case PartitionKind::kEveryShard:
      return;
  }
}

}  // namespace shoal
