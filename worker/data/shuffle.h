#ifndef SHOAL_WORKER_DATA_SHUFFLE_H_
#define SHOAL_WORKER_DATA_SHUFFLE_H_

#include <cstdint>
#include <vector>

namespace shoal {

// The key of a shuffle, which decides the order of the rows of one window.
struct ShuffleKey {
  uint64_t seed = 0;
  uint32_t epoch = 0;
  uint32_t piece = 0;
  uint32_t window = 0;  // index of the window in the piece, from 0
};

// Overwrites *order with a permutation of 0 … rows - 1 that is a function of
// only `key` and `rows`, the same on every machine. It decides the rows of each
// batch, and so the meaning of a batch's id. The method is Fisher and Yates'
// shuffle with Philox numbers.
void ShuffledOrder(const ShuffleKey& key, uint32_t rows,
                   std::vector<uint32_t>* order);

}  // namespace shoal

#endif  // SHOAL_WORKER_DATA_SHUFFLE_H_
