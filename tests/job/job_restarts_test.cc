#include "job/job_restarts.h"

#include <cstdint>
#include <optional>

#include "gtest/gtest.h"

namespace shoal {
namespace {

using Ending = JobRestarts::Ending;

constexpr std::optional<uint64_t> kNone;

TEST(JobRestartsTest, AJobThatIsOverIsNotStartedAgain) {
  JobRestarts restarts(3, kNone);
  EXPECT_EQ(restarts.OnEnd(Ending::kOver, 7), std::nullopt);
  EXPECT_EQ(restarts.OnEnd(Ending::kLost, 7), 1);
  EXPECT_EQ(restarts.OnEnd(Ending::kOver, 9), std::nullopt);
  EXPECT_EQ(restarts.total(), 1);
}

TEST(JobRestartsTest, AJobThatLostAProcessIsStartedAgainSoOftenAndNoMore) {
  JobRestarts restarts(2, 7);
  EXPECT_EQ(restarts.most(), 2);
  EXPECT_EQ(restarts.OnEnd(Ending::kLost, 7), 1);
  EXPECT_EQ(restarts.OnEnd(Ending::kLost, 7), 2);
  EXPECT_EQ(restarts.OnEnd(Ending::kLost, 7), std::nullopt);
  EXPECT_EQ(restarts.total(), 2);
}

TEST(JobRestartsTest, NoneAreMadeIfNoneAreAllowed) {
  JobRestarts restarts(0, kNone);
  EXPECT_EQ(restarts.OnEnd(Ending::kLost, kNone), std::nullopt);
  EXPECT_EQ(restarts.OnEnd(Ending::kLost, 100), std::nullopt);
}

TEST(JobRestartsTest, ANewerCheckpointBeginsTheCountAgain) {
  JobRestarts restarts(2, kNone);
  EXPECT_EQ(restarts.OnEnd(Ending::kLost, kNone), 1);
  EXPECT_EQ(restarts.OnEnd(Ending::kLost, 0), 1) << "the first checkpoint";
  EXPECT_EQ(restarts.OnEnd(Ending::kLost, 0), 2);
  EXPECT_EQ(restarts.OnEnd(Ending::kLost, 5), 1);
  EXPECT_EQ(restarts.OnEnd(Ending::kLost, 5), 2);
  EXPECT_EQ(restarts.OnEnd(Ending::kLost, 5), std::nullopt);
  EXPECT_EQ(restarts.total(), 5);
}

TEST(JobRestartsTest, AnOlderCheckpointOrNoneIsNoProgress) {
  JobRestarts restarts(2, 5);
  EXPECT_EQ(restarts.OnEnd(Ending::kLost, 4), 1) << "5 was damaged";
  EXPECT_EQ(restarts.OnEnd(Ending::kLost, kNone), 2) << "the disk is away";
  EXPECT_EQ(restarts.OnEnd(Ending::kLost, 5), std::nullopt);
}

TEST(JobRestartsTest, AStartThatCannotBeginIsAMistakeUnlessOneHasBegun) {
  EXPECT_EQ(JobRestarts(3, 7).OnEnd(Ending::kNotBegun, 7), std::nullopt);
  EXPECT_EQ(JobRestarts(3, 7).OnEnd(Ending::kNotBegun, 8), std::nullopt);
  JobRestarts restarts(3, 7);
  EXPECT_EQ(restarts.OnEnd(Ending::kLost, 7), 1);
  EXPECT_EQ(restarts.OnEnd(Ending::kNotBegun, 7), 2);
  EXPECT_EQ(restarts.OnEnd(Ending::kNotBegun, 7), 3);
  EXPECT_EQ(restarts.OnEnd(Ending::kNotBegun, 7), std::nullopt);
}

}  // namespace
}  // namespace shoal
