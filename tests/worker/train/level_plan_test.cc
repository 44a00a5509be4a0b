#include "worker/train/level_plan.h"

#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Name(int rank) { return absl::StrCat("worker ", rank + 1); }

absl::StatusOr<LevelPlan> Plan(const std::vector<LevelPart>& parts) {
  return PlanLevel(parts, Name);
}

// The example of docs/wire_protocol.md.
TEST(LevelPlanTest, ByteByByte) {
  EXPECT_EQ(absl::BytesToHexString(EncodeLevelPart({260, 3, 1000})),
            "53484c560100000004010000000000000300000000000000"
            "e803000000000000");
}

TEST(LevelPlanTest, APartComesBack) {
  const LevelPart part{260, 3, 1000};
  const auto again = DecodeLevelPart(EncodeLevelPart(part));
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(*again, part);
}

TEST(LevelPlanTest, OtherBytesAreRefused) {
  const std::string good = EncodeLevelPart({260, 3, 1000});
  EXPECT_TRUE(absl::IsDataLoss(DecodeLevelPart({}).status()));
  EXPECT_TRUE(absl::IsDataLoss(
      DecodeLevelPart(good.substr(0, good.size() - 1)).status()));
  std::string magic = good;
  magic[0] = 'x';
  EXPECT_TRUE(absl::IsDataLoss(DecodeLevelPart(magic).status()));
  std::string version = good;
  version[4] = 9;
  EXPECT_TRUE(absl::IsFailedPrecondition(DecodeLevelPart(version).status()));
  // More in the newest step than in all, and a step without bytes.
  for (const LevelPart& bad : {LevelPart{2, 3, 1000}, LevelPart{260, 3, 0},
                               LevelPart{260, 0, 1000},
                               LevelPart{260, 3, ~uint64_t{0}}}) {
    EXPECT_TRUE(
        absl::IsDataLoss(DecodeLevelPart(EncodeLevelPart(bad)).status()));
  }
}

TEST(LevelPlanTest, EqualReplicasAreLevel) {
  const auto plan = Plan({{12, 0, 0}, {12, 3, 100}, {12, 0, 0}});
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->sender, -1);
}

TEST(LevelPlanTest, TheLowestRankWithTheNewestStepSendsItToAllThatLackIt) {
  const auto plan =
      Plan({{9, 3, 90}, {12, 3, 100}, {9, 0, 0}, {12, 3, 100}});
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->sender, 1);
  EXPECT_EQ(plan->bytes, 100u);
  EXPECT_THAT(plan->lacks, ElementsAre(true, false, true, false));
}

TEST(LevelPlanTest, ReplicasThatDifferByMoreThanAStepAreNamed) {
  using Parts = std::vector<LevelPart>;
  for (const Parts& parts : std::vector<Parts>{
           {{12, 3, 100}, {8, 3, 100}},   // more than a step
           {{12, 3, 100}, {10, 3, 100}},  // less than one
           {{12, 0, 0}, {9, 3, 100}}}) {  // nobody has the step any more
    const auto plan = Plan(parts);
    EXPECT_TRUE(absl::IsFailedPrecondition(plan.status())) << plan.status();
    EXPECT_THAT(std::string(plan.status().message()),
                HasSubstr("the replica of worker 1 has 12 batches, and that of "
                          "worker 2 has "));
  }
}

}  // namespace
}  // namespace shoal
