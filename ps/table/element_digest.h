#ifndef SHOAL_PS_TABLE_ELEMENT_DIGEST_H_
#define SHOAL_PS_TABLE_ELEMENT_DIGEST_H_

#include <bit>
#include <cstddef>
#include <cstdint>

#include "absl/numeric/int128.h"
#include "absl/types/span.h"
#include "base/stable_hash.h"

namespace shoal {

// The digest of a model is the sum, modulo 2^64, over every element in
// existence of
//   StableHash(bits ^ StableHash(StableHash(variable's name) + element))
// where `bits` are the bits of the weight as an IEEE float, and `element` is
// counted as in initial_value.h, with StableHash of its part above 2^64 added.
// A sum has no order, so equal models have equal digests for any number of
// shards, and the digests of the shards add up to the model's.

// The part of the digest from the elements [first, first + weights.size()) of
// the variable whose name hashes to `name_hash`.
inline uint64_t ElementDigest(uint64_t name_hash, absl::uint128 first,
                              absl::Span<const float> weights) {
  uint64_t start = name_hash + absl::Uint128Low64(first);
  const uint64_t high = absl::Uint128High64(first);
  if (high != 0) start += StableHash(high);
  uint64_t sum = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    sum += StableHashCombine(std::bit_cast<uint32_t>(weights[i]), start + i);
  }
  return sum;
}

}  // namespace shoal

#endif  // SHOAL_PS_TABLE_ELEMENT_DIGEST_H_
