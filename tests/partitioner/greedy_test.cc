#include "partitioner/greedy.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

using ::testing::ElementsAre;

// tensorflow/python/training/device_setter_test.py: u [2,2], v [2,1], w [2,2],
// x [1,3] of float over two servers.
TEST(GreedyTest, PlacesByBytesAsTensorFlowDoes) {
  std::vector<int64_t> load(2, 0);
  EXPECT_THAT(PlaceGreedily({16, 8, 16, 12}, &load), ElementsAre(0, 1, 1, 0));
  EXPECT_THAT(load, ElementsAre(28, 24));
}

TEST(GreedyTest, LowestShardWinsAmongEquals) {
  std::vector<int64_t> load(3, 0);
  EXPECT_THAT(PlaceGreedily({1, 1, 1, 1}, &load), ElementsAre(0, 1, 2, 0));
}

TEST(GreedyTest, CountsWhatShardsHoldAlready) {
  std::vector<int64_t> load = {100, 0, 50};
  EXPECT_THAT(PlaceGreedily({60, 10}, &load), ElementsAre(1, 2));
  EXPECT_THAT(load, ElementsAre(100, 60, 60));
}

}  // namespace
}  // namespace shoal
