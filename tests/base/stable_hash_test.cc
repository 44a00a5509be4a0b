#include "base/stable_hash.h"

#include <bit>

#include "gtest/gtest.h"

namespace shoal {
namespace {

// Files and placements depend on these values: they may never change.
TEST(StableHash, GoldenValues) {
  // The first three outputs of SplitMix64 seeded with 0.
  EXPECT_EQ(StableHash(uint64_t{0}), 0xe220a8397b1dcdafull);
  EXPECT_EQ(StableHash(uint64_t{0x9e3779b97f4a7c15}), 0x6e789e6aa1b965f4ull);
  EXPECT_EQ(StableHash(uint64_t{0x3c6ef372fe94f82a}), 0x06c45d188009454full);
  // FNV-1a's published values, finalised.
  EXPECT_EQ(StableHash(""), StableHash(uint64_t{0xcbf29ce484222325}));
  EXPECT_EQ(StableHash("a"), StableHash(uint64_t{0xaf63dc4c8601ec8c}));
  EXPECT_EQ(StableHash("foobar"), StableHash(uint64_t{0x85944171f73967e8}));
  EXPECT_EQ(StableHash("foobar"), 0x5df295413403de4full);
  EXPECT_EQ(StableHashCombine(1, 2), 0xe06dd043328bd285ull);
}

TEST(StableHash, CombineDependsOnTheOrder) {
  EXPECT_NE(StableHashCombine(1, 2), StableHashCombine(2, 1));
  EXPECT_NE(StableHashCombine(0, 0), StableHash(uint64_t{0}));
}

TEST(StableHash, BytesAboveAsciiCountAsUnsigned) {
  // The same on machines whose char is signed and where it is not.
  EXPECT_EQ(StableHash("\xff"), StableHash(uint64_t{0xaf64724c8602eb6e}));
}

TEST(StableHash, EveryInputBitMovesAboutHalfTheOutputBits) {
  for (int bit = 0; bit < 64; ++bit) {
    int changed = 0;
    for (uint64_t x = 0; x < 64; ++x) {
      changed +=
          std::popcount(StableHash(x) ^ StableHash(x ^ (uint64_t{1} << bit)));
    }
    EXPECT_NEAR(changed / 64.0, 32, 3) << "bit " << bit;
  }
}

TEST(StableHash, NeighbouringIdsSpreadEvenly) {
  int counts[3] = {};
  for (uint64_t id = 0; id < 30'000; ++id) ++counts[StableHash(id) % 3];
  for (const int count : counts) EXPECT_NEAR(count, 10'000, 400);
}

}  // namespace
}  // namespace shoal
