#include "base/keyed_hash.h"

#include <cstdint>
#include <vector>

#include "base/random_bits.h"
#include "gtest/gtest.h"
#include "tests/ps/crafted_ids.h"

namespace shoal {
namespace {

TEST(RandomBits, DoNotRepeat) { EXPECT_NE(RandomBits(), RandomBits()); }

TEST(KeyedHash, IsAFunctionOfKeyAndValue) {
  const KeyedHash random = KeyedHash::Random();
  EXPECT_EQ(random(7), KeyedHash(random)(7));
  EXPECT_NE(random(7), KeyedHash::Random()(7));
  EXPECT_NE(random(7), random(8));
}

// Values whose public hashes are a progression: in bits that alone decide where
// a table would store them by those hashes, and in others. The fullest of 1,024
// parts holds no more than of random hashes (mean 64, standard deviation 8).
TEST(KeyedHash, CraftedValuesAreSpreadUnderEveryKey) {
  for (const int low : {0, 20, 40}) {
    const std::vector<uint64_t> values = CraftedIds(0, low, 64 * 1024);
    for (uint64_t key = 1; key <= 200; ++key) {
      const KeyedHash hash(StableHash(key), StableHash(~key));
      std::vector<int> parts(1024);
      for (const uint64_t value : values) ++parts[hash(value) >> 54];
      for (const int count : parts) ASSERT_LE(count, 64 + 8 * 8) << key;
    }
  }
}

}  // namespace
}  // namespace shoal
