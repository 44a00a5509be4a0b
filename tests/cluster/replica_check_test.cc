#include "cluster/replica_check.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace shoal {
namespace {

// Members 0 and 1 hold shards 0 and 1; members 2, 3 and 4 hold shard 2.
std::vector<PsReport> Good() {
  std::vector<PsReport> members(5);
  for (int member = 0; member < 5; ++member) {
    members[member].index = member;
    members[member].shard = member < 2 ? member : 2;
    members[member].stats.digest = member < 2 ? 7 : 0xab;
  }
  members[1].stats.digest = 8;
  return members;
}

TEST(ReplicaCheck, CopiesOfOneShardHaveOneDigest) {
  EXPECT_TRUE(CheckReplicas(Good()).ok());
}

TEST(ReplicaCheck, DifferentShardsMayHaveAnyDigests) {
  std::vector<PsReport> members = Good();
  members.resize(2);
  EXPECT_TRUE(CheckReplicas(members).ok());
  EXPECT_TRUE(CheckReplicas({}).ok());
}

TEST(ReplicaCheck, ACopyThatDiffersIsNamedWithBothDigests) {
  for (const int other : {3, 4}) {
    std::vector<PsReport> members = Good();
    members[other].stats.digest = 0xac;
    EXPECT_EQ(CheckReplicas(members),
              absl::DataLossError(
                  "worker 0 and worker " + std::to_string(other - 2) +
                  " hold copies of shard 2 with different weights: their "
                  "digests are 00000000000000ab and 00000000000000ac; they did "
                  "not apply the same gradients. " +
                  std::string(kReplicasDifferAdvice)));
  }
}

TEST(ReplicaCheck, ACopyThatWasLostIsNotCompared) {
  std::vector<PsReport> members = Good();
  members[2].lost = true;  // the first of the shard
  members[2].stats.digest = 0;
  EXPECT_TRUE(CheckReplicas(members).ok());
  members[4].stats.digest = 0xac;
  EXPECT_THAT(std::string(CheckReplicas(members).message()),
              ::testing::HasSubstr("worker 1 and worker 2 hold copies"));
}

}  // namespace
}  // namespace shoal
