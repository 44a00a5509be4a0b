#ifndef SHOAL_BASE_KEYED_HASH_H_
#define SHOAL_BASE_KEYED_HASH_H_

#include <cstdint>

#include "base/random_bits.h"
#include "base/stable_hash.h"

namespace shoal {

// A hash under a key of the process, for positions in hash tables whose keys
// come from outside. StableHash is public, so a foreign client can craft values
// whose hashes begin or end alike; a table that stores such values by
// StableHash alone would search through all of them for each one. KeyedHash
// first multiplies the value by a random odd number and adds another random
// number, so that values chosen without these numbers collide as rarely as
// random values. The hash is one to one. No data that leaves the process may
// depend on these hashes.
class KeyedHash {
 public:
  KeyedHash(uint64_t multiplier, uint64_t addend)
      : multiplier_(multiplier | 1), addend_(addend) {}
  // A hash with a new random key.
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
