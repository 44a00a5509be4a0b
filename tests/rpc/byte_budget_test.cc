#include "rpc/server/byte_budget.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <utility>
#include <vector>

#include "tests/harness/simulated_executor.h"

namespace shoal {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Share = ByteBudget::Share;

class ByteBudgetTest : public testing::Test {
 protected:
  void TearDown() override {
    // What is posted holds shares of the budget.
    executor_.Kill();
  }
  // Waits for room, and keeps what it gets.
  void Take(int number, uint64_t owner, uint64_t bytes) {
    const size_t before = served_.size();
    budget_.Take(owner, bytes, [this, number](Share share) {
      served_.push_back(number);
      shares_.push_back(std::move(share));
    });
    EXPECT_EQ(served_.size(), before) << "ran inside the call";
  }
  // The numbers of those that got room since the last time.
  std::vector<int> Served() {
    simulator_.RunUntilIdle();
    return std::exchange(served_, {});
  }

  Simulator simulator_;
  SimulatedExecutor executor_{&simulator_};
  ByteBudget budget_{/*limit=*/100, /*owner_limit=*/60, &executor_};
  std::vector<int> served_;
  std::vector<Share> shares_;
};

TEST_F(ByteBudgetTest, BytesAreGivenBackOnce) {
  std::optional<Share> share = budget_.TryTake(1, 50);
  ASSERT_TRUE(share.has_value());
  share->ShrinkTo(20);
  share->ShrinkTo(30);
  EXPECT_EQ(budget_.taken_bytes(), 20);
  Share moved = *std::move(share);
  share.reset();
  EXPECT_EQ(budget_.taken_bytes(), 20);
  moved = Share();
  EXPECT_EQ(budget_.taken_bytes(), 0);
}

TEST_F(ByteBudgetTest, BeyondTheLimitCallsWaitInOrder) {
  std::optional<Share> first = budget_.TryTake(1, 60);
  std::optional<Share> second = budget_.TryTake(2, 40);
  EXPECT_FALSE(budget_.TryTake(3, 1).has_value());
  Take(1, 3, 50);
  Take(2, 4, 10);
  EXPECT_THAT(Served(), IsEmpty());
  second.reset();
  // There is room for the second one, and it is not its turn.
  EXPECT_THAT(Served(), IsEmpty());
  EXPECT_FALSE(budget_.TryTake(5, 10).has_value());
  first.reset();
  EXPECT_THAT(Served(), ElementsAre(1, 2));
  EXPECT_EQ(budget_.taken_bytes(), 60);
}

TEST_F(ByteBudgetTest, AnOwnerBeyondItsPartWaitsAndStandsInNobodysWay) {
  std::optional<Share> first = budget_.TryTake(1, 40);
  EXPECT_FALSE(budget_.TryTake(1, 40).has_value());
  Take(1, 1, 40);
  Take(2, 1, 40);
  EXPECT_TRUE(budget_.TryTake(2, 10).has_value());
  Take(3, 2, 50);
  EXPECT_THAT(Served(), ElementsAre(3));
  first.reset();
  EXPECT_THAT(Served(), ElementsAre(1));
  shares_.clear();
  EXPECT_THAT(Served(), ElementsAre(2));
}

TEST_F(ByteBudgetTest, AnOwnerMayHaveOneShareBeyondItsPart) {
  EXPECT_TRUE(budget_.TryTake(1, 90).has_value());
  Take(1, 1, 90);
  Take(2, 1, 90);
  EXPECT_THAT(Served(), ElementsAre(1));
}

TEST_F(ByteBudgetTest, WhatAnEndedExecutorDropsIsGivenBack) {
  std::optional<Share> first = budget_.TryTake(1, 60);
  Take(1, 1, 60);
  executor_.Kill();
  first.reset();
  EXPECT_THAT(Served(), IsEmpty());
  EXPECT_EQ(budget_.taken_bytes(), 0);
}

}  // namespace
}  // namespace shoal
