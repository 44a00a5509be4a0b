#include "coordinator/rank_watch.h"

#include <optional>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

using ::testing::HasSubstr;

// Workers 0 and 2 are ranks 0 and 1.
class RankWatchTest : public testing::Test {
 protected:
  RankWatchTest() : watch_(absl::Seconds(10)) {}

  static absl::Time At(double seconds) {
    return absl::UnixEpoch() + absl::Seconds(seconds);
  }
  std::optional<std::string> Stall(uint64_t batches, double now,
                                   bool trains = true) {
    return watch_.Stall(batches, trains, ranks_, At(now));
  }

  RankWatch watch_;
  const std::vector<JobRank> ranks_ = {{0, {1, 5}}, {2, {1, 6}}};
};

TEST_F(RankWatchTest, EachRankIsNamedWithWhatItDoes) {
  watch_.OnHeartbeat({1, 5}, {12, "sums", "dense bucket 3 of 9", 1, 4.5},
                     At(100));
  EXPECT_EQ(watch_.Standings(ranks_, At(101)),
            "worker 0 at step 12 sums dense bucket 3 of 9 for 5.5s, and "
            "nothing comes from worker 2; worker 2 has not told what it does");
  watch_.OnHeartbeat({1, 6}, {0, "waits for a lease", "", -1, 0.25}, At(101));
  EXPECT_THAT(watch_.Standings(ranks_, At(101)),
              HasSubstr("; worker 2 waits for a lease for 200ms"));
  watch_.Forget({1, 5});
  EXPECT_THAT(watch_.Standings(ranks_, At(101)),
              HasSubstr("worker 0 has not told"));
}

TEST_F(RankWatchTest, NewRanksHaveOtherNumbers) {
  watch_.OnHeartbeat({1, 5}, {1, "gathers", "rows", 1, 1}, At(0));
  watch_.OnNewRanks();
  EXPECT_THAT(watch_.Standings(ranks_, At(0)),
              HasSubstr("worker 0 at step 1 gathers rows for 1s;"));
}

TEST_F(RankWatchTest, ARankThatIsNoneIsNotNamed) {
  watch_.OnHeartbeat({1, 5}, {1, "gathers", "rows", 7, 1}, At(0));
  EXPECT_THAT(watch_.Standings(ranks_, At(0)),
              HasSubstr("worker 0 at step 1 gathers rows for 1s;"));
}

TEST_F(RankWatchTest, AStallIsToldAgainWhenItHasDoubled) {
  EXPECT_FALSE(Stall(3, 0).has_value());
  EXPECT_FALSE(Stall(3, 9).has_value());
  EXPECT_THAT(Stall(3, 10).value_or(""),
              HasSubstr("no batch was trained for 10s: worker 0 has not"));
  EXPECT_FALSE(Stall(3, 19).has_value());
  EXPECT_TRUE(Stall(3, 20).has_value());
  EXPECT_FALSE(Stall(3, 39).has_value());
  EXPECT_TRUE(Stall(3, 95).has_value());
  EXPECT_FALSE(Stall(3, 159).has_value());
  EXPECT_TRUE(Stall(3, 160).has_value());
  EXPECT_FALSE(Stall(4, 161).has_value()) << "a batch was trained";
  EXPECT_FALSE(Stall(4, 170).has_value());
  EXPECT_TRUE(Stall(4, 171).has_value());
}

TEST_F(RankWatchTest, AJobThatNeedNotTrainIsNotStalled) {
  EXPECT_FALSE(Stall(3, 0).has_value());
  EXPECT_FALSE(Stall(3, 9, /*trains=*/false).has_value());
  EXPECT_FALSE(Stall(3, 18).has_value());
  EXPECT_TRUE(Stall(3, 19).has_value());
}

TEST_F(RankWatchTest, ATimeOfZeroWarnsOfNothing) {
  watch_ = RankWatch(absl::ZeroDuration());
  EXPECT_FALSE(Stall(3, 0).has_value());
  EXPECT_FALSE(Stall(3, 1000).has_value());
}

}  // namespace
}  // namespace shoal
