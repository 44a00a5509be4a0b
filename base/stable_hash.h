#ifndef SHOAL_BASE_STABLE_HASH_H_
#define SHOAL_BASE_STABLE_HASH_H_

#include <cstdint>

#include "absl/strings/string_view.h"

namespace shoal {

// Hashes whose values are part of file formats and of placement. They are the
// same on every machine and in every version, which golden tests check. Not for
// secrets.

// The finaliser of SplitMix64 (Steele, Lea, Flood 2014): a bijection of 64
// bits, every output bit depends on every input bit.
inline uint64_t StableHash(uint64_t x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

// Order matters: StableHashCombine(a, b) != StableHashCombine(b, a).
inline uint64_t StableHashCombine(uint64_t seed, uint64_t x) {
  return StableHash(seed ^ StableHash(x));
}

// FNV-1a over the bytes, then StableHash.
inline uint64_t StableHash(absl::string_view bytes) {
  uint64_t h = 0xcbf29ce484222325ull;
  for (const char c : bytes) {
    h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  }
  return StableHash(h);
}

}  // namespace shoal

#endif  // SHOAL_BASE_STABLE_HASH_H_
