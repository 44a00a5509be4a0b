#include "cluster/piece_order.h"

#include <numeric>
#include <utility>

#include "base/philox.h"
#include "base/stable_hash.h"

namespace shoal {

std::vector<uint32_t> ListedPieces(uint32_t num_pieces) {
  std::vector<uint32_t> order(num_pieces);
  std::iota(order.begin(), order.end(), 0u);
  return order;
}

std::vector<uint32_t> ShuffledPieces(uint64_t seed, uint32_t epoch,
                                     uint32_t num_pieces) {
  // A stream of its own: rows and initial values draw from the same seed.
  const Philox philox(
      StableHashCombine(seed, StableHash(absl::string_view("piece order"))));
  std::vector<uint32_t> order = ListedPieces(num_pieces);
  for (uint32_t i = num_pieces; i > 1; --i) {
    // A word of 32 bits times i, upper half: uniform but for 2^-32 · i.
    const uint64_t word = philox(epoch, i)[0];
    std::swap(order[i - 1], order[(word * i) >> 32]);
  }
  return order;
}

}  // namespace shoal
