#include "ps/shard/staleness.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

using testing::ElementsAre;
using testing::Pair;

constexpr Life kShard = {3, 4};

TEST(Staleness, IsKeptByWorkerAndByVariable) {
  StalenessLog log(3);
  log.Record({1, 1}, {kShard, 5}, {kShard, 5}, {0, 2});
  log.Record({1, 2}, {kShard, 5}, {kShard, 6}, {2});
  log.Record({1, 1}, {kShard, 0}, {kShard, 7}, {});
  EXPECT_THAT(log.all().buckets(),
              ElementsAre(Pair(0, 1), Pair(1, 1), Pair(7, 1)));
  EXPECT_THAT(log.by_worker().at(Life{1, 1}).buckets(),
              ElementsAre(Pair(0, 1), Pair(7, 1)));
  EXPECT_THAT(log.by_worker().at(Life{1, 2}).buckets(),
              ElementsAre(Pair(1, 1)));
  EXPECT_THAT(log.by_variable()[0].buckets(), ElementsAre(Pair(0, 1)));
  EXPECT_EQ(log.by_variable()[1].count(), 0);
  EXPECT_THAT(log.by_variable()[2].buckets(),
              ElementsAre(Pair(0, 1), Pair(1, 1)));
}

TEST(Staleness, CountsOfAnotherLifeAreNotCompared) {
  StalenessLog log(1);
  log.Record({1, 1}, {Life{3, 3}, 5}, {kShard, 9}, {0});
  log.Record({1, 1}, {Life{}, 0}, {kShard, 9}, {0});
  log.Record({1, 1}, {kShard, 10}, {kShard, 9}, {0});  // not reached yet
  EXPECT_EQ(log.pulled_in_other_life(), 3);
  EXPECT_EQ(log.all().count(), 0);
  EXPECT_TRUE(log.by_worker().empty());
}

TEST(Staleness, OldWorkerLivesAreFoldedTogether) {
  StalenessLog log(0);
  const uint32_t lives = StalenessLog::kWorkersMax + 10;
  for (uint32_t n = 1; n <= lives; ++n) {
    log.Record({1, n}, {kShard, 0}, {kShard, n}, {});
  }
  EXPECT_EQ(log.by_worker().size(), StalenessLog::kWorkersMax + 1);
  EXPECT_EQ(log.all().count(), lives);
  uint64_t count = 0;
  for (const auto& [life, histogram] : log.by_worker()) {
    count += histogram.count();
  }
  EXPECT_EQ(count, lives);
  EXPECT_FALSE(log.by_worker().contains(Life{1, 1}));
  EXPECT_TRUE(log.by_worker().contains(Life{1, lives}));
}

}  // namespace
}  // namespace shoal
