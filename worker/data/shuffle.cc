#include "worker/data/shuffle.h"

#include <numeric>
#include <utility>

#include "base/philox.h"
#include "base/stable_hash.h"

namespace shoal {

void ShuffledOrder(const ShuffleKey& key, uint32_t rows,
                   std::vector<uint32_t>* order) {
  order->resize(rows);
  std::iota(order->begin(), order->end(), 0);
  // Keeps these random numbers apart from others that are drawn from the seed.
  const Philox random(StableHashCombine(key.seed, StableHash("shuffle")));
  const uint64_t hi = uint64_t{key.epoch} << 32 | key.piece;
  const uint64_t lo = uint64_t{key.window} << 32;
  for (uint32_t left = rows; left > 1; --left) {
    const Philox::Block words = random(hi, lo | left);
    // 48 random bits times `left` < 2^32 over 2^48: the bias is below 2^-16 of
    // a row's chance even in the largest window.
    const uint64_t bits = uint64_t{words[0]} << 16 | words[1] >> 16;
    const auto pick = static_cast<uint32_t>(
        static_cast<unsigned __int128>(bits) * left >> 48);
    std::swap((*order)[left - 1], (*order)[pick]);
  }
}

}  // namespace shoal
