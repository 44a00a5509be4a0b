#ifndef SHOAL_TESTS_PS_CRAFTED_IDS_H_
#define SHOAL_TESTS_PS_CRAFTED_IDS_H_

#include <cstdint>
#include <vector>

#include "base/stable_hash.h"
#include "core/ids.h"

namespace shoal {

// InverseOf(odd) * odd == 1, modulo 2^64, by Newton's iteration.
inline uint64_t InverseOf(uint64_t odd) {
  uint64_t x = odd;
  for (int i = 0; i < 5; ++i) x *= 2 - odd * x;
  return x;
}

// The id whose StableHash is `hash`.
inline FeatureId IdOfHash(uint64_t hash) {
  uint64_t x = hash;
  x ^= x >> 31 ^ x >> 62;
  x *= InverseOf(0x94d049bb133111ebull);
  x ^= x >> 27 ^ x >> 54;
  x *= InverseOf(0xbf58476d1ce4e5b9ull);
  x ^= x >> 30 ^ x >> 60;
  return x - 0x9e3779b97f4a7c15ull;
}

// `count` ids whose StableHashes are `common` but for the bits from `low` on,
// which count up.
inline std::vector<FeatureId> CraftedIds(uint64_t common, int low,
                                         uint64_t count) {
  std::vector<FeatureId> ids;
  for (uint64_t i = 0; i < count; ++i) {
    ids.push_back(IdOfHash(common ^ i << low));
  }
  return ids;
}

}  // namespace shoal

#endif  // SHOAL_TESTS_PS_CRAFTED_IDS_H_
