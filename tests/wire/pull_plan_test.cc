#include "wire/codec/pull_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace shoal {
namespace {

uint64_t Cost(const PullRequest& pull) {
  uint64_t bytes = 0;
  for (const TablePull& table : pull.tables) {
    bytes += std::max(table.ids.size() * 8, table.values.size() * 4);
  }
  for (const BlockPull& block : pull.blocks) bytes += block.values.size() * 4;
  return bytes;
}

class PullPlanTest : public testing::Test {
 protected:
  PullPlanTest() : ids_(1000), rows_(1000 * 4), narrow_(1000), block_(3000) {
    for (size_t i = 0; i < ids_.size(); ++i) ids_[i] = i;
    request_.identity.job = "job";
    request_.read_only = true;
    request_.tables = {{0, ids_, absl::MakeSpan(rows_)},
                       {1, {}, {}},
                       {2, ids_, absl::MakeSpan(narrow_)}};
    request_.blocks = {{5, absl::MakeSpan(block_), 100}};
  }

  std::vector<FeatureId> ids_;
  std::vector<float> rows_;
  std::vector<float> narrow_;
  std::vector<float> block_;
  PullRequest request_;
};

TEST_F(PullPlanTest, WhatFitsIsOnePull) {
  const auto pulls = PlanPulls(request_, 1 << 20);
  ASSERT_EQ(pulls.size(), 1);
  EXPECT_EQ(pulls[0].tables.size(), 3);
  EXPECT_EQ(pulls[0].blocks.size(), 1);
  EXPECT_EQ(pulls[0].identity.job, "job");
  EXPECT_TRUE(pulls[0].read_only);
  EXPECT_EQ(PlanPulls(PullRequest(), 1 << 20).size(), 1) << "also nothing";
}

TEST_F(PullPlanTest, EveryElementIsPulledOnceIntoItsPlaceWithinTheLimit) {
  for (const uint64_t limit : {100u, 500u, 4096u, 10'000u, 36'000u}) {
    std::fill(rows_.begin(), rows_.end(), 0);
    std::fill(narrow_.begin(), narrow_.end(), 0);
    std::fill(block_.begin(), block_.end(), 0);
    for (const PullRequest& pull : PlanPulls(request_, limit)) {
      EXPECT_LE(Cost(pull), limit);
      EXPECT_TRUE(pull.read_only);
      for (const TablePull& table : pull.tables) {
        if (table.table == 1) continue;
        const size_t dim = table.table == 0 ? 4 : 1;
        float* base = table.table == 0 ? rows_.data() : narrow_.data();
        ASSERT_EQ(table.values.size(), table.ids.size() * dim);
        for (size_t i = 0; i < table.ids.size(); ++i) {
          EXPECT_EQ(&table.values[i * dim], base + table.ids[i] * dim);
          for (size_t d = 0; d < dim; ++d) table.values[i * dim + d] += 1;
        }
      }
      for (const BlockPull& block : pull.blocks) {
        EXPECT_EQ(block.block, 5);
        EXPECT_EQ(block.values.data(), block_.data() + (block.offset - 100));
        for (float& value : block.values) value += 1;
      }
    }
    const auto is_one = [](float value) { return value == 1; };
    EXPECT_TRUE(std::all_of(rows_.begin(), rows_.end(), is_one)) << limit;
    EXPECT_TRUE(std::all_of(narrow_.begin(), narrow_.end(), is_one)) << limit;
    EXPECT_TRUE(std::all_of(block_.begin(), block_.end(), is_one)) << limit;
  }
}

TEST_F(PullPlanTest, ARowLargerThanTheLimitTravelsAlone) {
  const auto pulls = PlanPulls(request_, 1);
  EXPECT_EQ(pulls.size(), 1000 + 1 + 1000 + 3000);
}

}  // namespace
}  // namespace shoal
