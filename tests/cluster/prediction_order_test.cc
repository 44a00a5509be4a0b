#include "cluster/prediction_order.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(PredictionOrderTest, PiecesComeOutInOrderAndTheNextOneAsItComes) {
  PredictionOrder order(3, 2);
  ASSERT_TRUE(order.Add(1, {10, 11}, true).ok());
  EXPECT_THAT(order.TakeReady(), IsEmpty());
  ASSERT_TRUE(order.Add(0, {1}, false).ok());
  EXPECT_THAT(order.TakeReady(), ElementsAre(1));
  ASSERT_TRUE(order.Add(0, {2}, true).ok());
  EXPECT_THAT(order.TakeReady(), ElementsAre(2, 10, 11));
  EXPECT_FALSE(order.complete());
  ASSERT_TRUE(order.Add(2, {}, true).ok());
  EXPECT_THAT(order.TakeReady(), IsEmpty());
  EXPECT_TRUE(order.complete());
}

TEST(PredictionOrderTest, TheWindowFollowsTheNextPiece) {
  PredictionOrder order(10, 2);
  EXPECT_EQ(order.limit(), 3u);
  ASSERT_TRUE(order.Add(0, {1}, true).ok());
  order.TakeReady();
  EXPECT_EQ(order.limit(), 4u);
}

TEST(PredictionOrderTest, WhileMuchWaitsNothingFurtherIsLeased) {
  PredictionOrder order(10, 2, /*max_scores=*/8);
  ASSERT_TRUE(order.Add(0, {1}, true).ok());
  ASSERT_TRUE(order.Add(2, {1, 2, 3}, true).ok());
  order.TakeReady();
  EXPECT_EQ(order.limit(), 2u) << "one is on its way, three wait";
  order.Written(1);
  EXPECT_EQ(order.limit(), 4u);
}

TEST(PredictionOrderTest, MoreThanMayWaitIsAnError) {
  PredictionOrder order(3, 2, /*max_scores=*/4);
  ASSERT_TRUE(order.Add(1, {1, 2, 3}, false).ok());
  EXPECT_EQ(order.Add(1, {4, 5}, true).code(),
            absl::StatusCode::kResourceExhausted);
  ASSERT_TRUE(order.Add(0, {1}, false).ok());
  EXPECT_THAT(order.TakeReady(), ElementsAre(1));
  // On its way it still takes memory.
  EXPECT_FALSE(order.Add(0, {1}, false).ok());
  order.Written(1);
  EXPECT_TRUE(order.Add(0, {1}, false).ok());
}

}  // namespace
}  // namespace shoal
