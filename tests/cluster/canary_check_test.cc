#include "cluster/canary_check.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

using ::testing::HasSubstr;

// Two shards that applied ten batches, each once.
std::vector<PsReport> Good() {
  std::vector<PsReport> shards(2);
  for (int s = 0; s < 2; ++s) {
    shards[s].index = s;
    shards[s].stats.canary =
        CanaryStats{.rows = 10, .not_one = 0, .smallest = 1, .largest = 1};
  }
  return shards;
}

TEST(CanaryCheck, OneOfEachAppliedBatchOnEveryShardIsRight) {
  EXPECT_TRUE(CheckCanaries(Good(), 10).ok());
}

TEST(CanaryCheck, AJobWithoutCanariesIsNotChecked) {
  EXPECT_TRUE(CheckCanaries(std::vector<PsReport>(2), 10).ok());
}

TEST(CanaryCheck, APushThatCountedTwiceIsFound) {
  std::vector<PsReport> shards = Good();
  shards[1].stats.canary->not_one = 1;
  shards[1].stats.canary->largest = 2;
  const absl::Status status = CheckCanaries(shards, 10);
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("ps 1 has canaries of 10 batches, 1 of them not 1 "
                        "(from 1 to 2), and 10 batches were applied"));
}

TEST(CanaryCheck, APushOfAnotherStartOfTheJobIsFound) {
  std::vector<PsReport> shards = Good();
  shards[1].stats.canary->foreign = 3;
  const absl::Status status = CheckCanaries(shards, 10);
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("ps 1 has canaries of 3 batches whose push came"));
}

TEST(CanaryCheck, TheNumberOfCanariesIsThatOfTheAppliedBatches) {
  for (const uint64_t rows : {9, 11}) {
    std::vector<PsReport> shards = Good();
    shards[0].stats.canary->rows = rows;
    EXPECT_EQ(CheckCanaries(shards, 10).code(), absl::StatusCode::kDataLoss);
  }
}

TEST(CanaryCheck, AShardWithoutCanariesAmongOthersIsWrong) {
  std::vector<PsReport> shards = Good();
  shards[1].stats.canary.reset();
  EXPECT_THAT(std::string(CheckCanaries(shards, 10).message()),
              HasSubstr("ps 1 reports no canaries"));
}

TEST(CanaryCheck, ACopyThatWasLostReportsNothing) {
  std::vector<PsReport> shards = Good();
  shards[1].stats = {};
  shards[1].lost = true;
  EXPECT_EQ(CheckCanaries(shards, 10), absl::OkStatus());
}

}  // namespace
}  // namespace shoal
