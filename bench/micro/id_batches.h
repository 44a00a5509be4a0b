#ifndef SHOAL_BENCH_MICRO_ID_BATCHES_H_
#define SHOAL_BENCH_MICRO_ID_BATCHES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/ids.h"

namespace shoal {

// The distribution of the ids of a batch over [0, rows): uniform, or Zipf's law
// with exponent 1.1, like categories of real data. Ranks are scattered over the
// ids, so that frequent rows are not neighbours in memory.
enum class IdLaw { kUniform, kZipf };

// `count` batches of `size` distinct ids each, in the order in which they are
// first drawn, as core/unique_ids.h leaves them. Equal arguments give equal
// batches. REQUIRES: size is well below rows.
std::vector<std::vector<FeatureId>> DistinctIdBatches(IdLaw law, uint64_t rows,
                                                      size_t size,
                                                      size_t count);

// `count` ids as they are drawn, with repetitions.
std::vector<FeatureId> DrawnIds(IdLaw law, uint64_t rows, size_t count);

}  // namespace shoal

#endif  // SHOAL_BENCH_MICRO_ID_BATCHES_H_
