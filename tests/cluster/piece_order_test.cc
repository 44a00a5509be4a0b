#include "cluster/piece_order.h"

#include <algorithm>
#include <set>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

using ::testing::ElementsAre;

TEST(PieceOrderTest, IsAPermutation) {
  for (const uint32_t n : {0u, 1u, 2u, 3u, 100u}) {
    std::vector<uint32_t> order = ShuffledPieces(7, 3, n);
    std::sort(order.begin(), order.end());
    EXPECT_EQ(order, ListedPieces(n));
  }
}

TEST(PieceOrderTest, DependsOnSeedAndEpochAlone) {
  EXPECT_EQ(ShuffledPieces(7, 3, 50), ShuffledPieces(7, 3, 50));
  EXPECT_NE(ShuffledPieces(7, 3, 50), ShuffledPieces(7, 4, 50));
  EXPECT_NE(ShuffledPieces(7, 3, 50), ShuffledPieces(8, 3, 50));
}

TEST(PieceOrderTest, EveryOrderOfThreeComesUp) {
  std::set<std::vector<uint32_t>> seen;
  for (uint32_t epoch = 0; epoch < 100; ++epoch) {
    seen.insert(ShuffledPieces(1, epoch, 3));
  }
  EXPECT_EQ(seen.size(), 6u);
}

// The order is part of what a seed means: it stays the same for ever.
TEST(PieceOrderTest, Golden) {
  EXPECT_THAT(ShuffledPieces(1, 0, 8), ElementsAre(2, 5, 0, 7, 6, 4, 3, 1));
  EXPECT_THAT(ShuffledPieces(1, 1, 8), ElementsAre(7, 0, 2, 1, 6, 4, 5, 3));
}

}  // namespace
}  // namespace shoal
