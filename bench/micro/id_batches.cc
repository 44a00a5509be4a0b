#include "bench/micro/id_batches.h"

#include "base/check.h"
#include "base/philox.h"
#include "datatools/zipf.h"

namespace shoal {
namespace {

constexpr double kZipfExponent = 1.1;

class IdSource {
 public:
  IdSource(IdLaw law, uint64_t rows)
      : rows_(rows), zipf_(rows, law == IdLaw::kZipf ? kZipfExponent : 0) {}

  FeatureId Draw() {
    const uint64_t rank = zipf_.Draw([this] {
      const Philox::Block block = philox_(0, draws_++);
      return static_cast<double>(uint64_t{block[0]} << 21 ^ block[1] >> 11) *
             0x1p-53;
    });
    // Odd and prime: one to one unless it divides the number of rows.
    return rank * 2'654'435'761u % rows_;
  }

 private:
  const uint64_t rows_;
  const ZipfSampler zipf_;
  const Philox philox_{1};
  uint64_t draws_ = 0;
};

}  // namespace

std::vector<std::vector<FeatureId>> DistinctIdBatches(IdLaw law, uint64_t rows,
                                                      size_t size,
                                                      size_t count) {
  SHOAL_DCHECK(size < rows);
  IdSource source(law, rows);
  std::vector<bool> seen(rows);
  std::vector<std::vector<FeatureId>> batches(count);
  for (std::vector<FeatureId>& ids : batches) {
    ids.reserve(size);
    while (ids.size() < size) {
      const FeatureId id = source.Draw();
      if (seen[id]) continue;
      seen[id] = true;
      ids.push_back(id);
    }
    for (const FeatureId id : ids) seen[id] = false;
  }
  return batches;
}

std::vector<FeatureId> DrawnIds(IdLaw law, uint64_t rows, size_t count) {
  IdSource source(law, rows);
  std::vector<FeatureId> ids(count);
  for (FeatureId& id : ids) id = source.Draw();
  return ids;
}

}  // namespace shoal
