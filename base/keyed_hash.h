#ifndef SHOAL_BASE_KEYED_HASH_H_
#define SHOAL_BASE_KEYED_HASH_H_

#include <cstdint>

#include "base/random_bits.h"
#include "base/stable_hash.h"

namespace shoal {

// A hash under a key of the process, for positions in hash tables whose keys
// come from outside. StableHash is public, so that values can be crafted whose
// hashes begin or end alike, and a table that stored these values by StableHash
// alone would look through all of them for each one. Here the value is first
// multiplied by a random odd number and moved by another, so that values which
// were chosen without these numbers collide as rarely as random ones. One to
// one. Nothing that leaves the process may depend on these hashes.
class KeyedHash {
 public:
  KeyedHash(uint64_t multiplier, uint64_t addend)
      : multiplier_(multiplier | 1), addend_(addend) {}
  // Under a new key.
  static KeyedHash Random() { return {RandomBits(), RandomBits()}; }

  uint64_t operator()(uint64_t value) const {
    return StableHash(multiplier_ * value + addend_);
  }

 private:
  uint64_t multiplier_;
  uint64_t addend_;
};

}  // namespace shoal

#endif  // SHOAL_BASE_KEYED_HASH_H_
