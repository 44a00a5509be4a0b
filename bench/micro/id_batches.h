#ifndef SHOAL_BENCH_MICRO_ID_BATCHES_H_
#define SHOAL_BENCH_MICRO_ID_BATCHES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/ids.h"

namespace shoal {

// How the ids of a batch are drawn from [0, rows): all alike, or as categories
// of real data are, by Zipf's law of exponent 1.1. A rank's id is scattered, so
// that common rows are not neighbours in memory.
enum class IdLaw { kUniform, kZipf };

// `count` batches of `size` distinct ids each, in the order in which they are
// drawn first, as worker/client/unique_ids.h leaves them. The same for the same
// arguments. REQUIRES: size well below rows.
std::vector<std::vector<FeatureId>> DistinctIdBatches(IdLaw law, uint64_t rows,
                                                      size_t size,
                                                      size_t count);

// `count` draws with their repetitions.
std::vector<FeatureId> DrawnIds(IdLaw law, uint64_t rows, size_t count);

}  // namespace shoal

#endif  // SHOAL_BENCH_MICRO_ID_BATCHES_H_
