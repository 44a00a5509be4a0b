// The exchange, the shards and the closer of --mode=sync over a bad network.
#include "tests/sim/step_run.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "tests/harness/seeds.h"

namespace shoal {
namespace {

const uint64_t kSeeds = Seeds(20);

TEST(StepRunTest, WithoutFaultsNothingIsDroppedOrTakenOut) {
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    StepRun run(seed, {});
    EXPECT_EQ(run.Run(), "") << "seed " << seed;
    EXPECT_EQ(run.dropped(), 0u);
    EXPECT_EQ(run.taken_out(), 0u);
  }
}

TEST(StepRunTest, LostAndRepeatedMessagesChangeNoBit) {
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    StepRunOptions options;
    options.ranks = 2 + seed % 3;
    options.shards = 1 + seed % 3;
    options.faults.drop = 0.05;
    options.faults.duplicate = 0.05;
    options.push_timeout = absl::Milliseconds(300);
    StepRun run(seed, options);
    EXPECT_EQ(run.Run(), "") << "seed " << seed;
    EXPECT_EQ(run.dropped(), 0u) << "seed " << seed;
  }
}

TEST(StepRunTest, PushesThatAreTakenOutParkAnew) {
  uint64_t taken_out = 0;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    StepRunOptions options;
    options.push_timeout = absl::Milliseconds(25);
    StepRun run(seed, options);
    EXPECT_EQ(run.Run(), "") << "seed " << seed;
    EXPECT_EQ(run.dropped(), 0u) << "seed " << seed;
    taken_out += run.taken_out();
  }
  EXPECT_GT(taken_out, kSeeds);
}

TEST(StepRunTest, DroppedBatchesAreTrainedLater) {
  uint64_t dropped = 0;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    StepRunOptions options;
    options.ranks = 3 + seed % 2;
    options.backup_workers = 1;
    options.faults.drop = seed % 2 == 0 ? 0.05 : 0;
    options.push_timeout = absl::Milliseconds(300);
    StepRun run(seed, options);
    EXPECT_EQ(run.Run(), "") << "seed " << seed;
    dropped += run.dropped();
  }
  EXPECT_GT(dropped, kSeeds);
}

TEST(StepRunTest, TheJobGoesOnWithoutALostWorkerAndWithItsSuccessor) {
  uint64_t mended = 0;
  uint64_t left_out = 0;
  int refused = 0;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    StepRunOptions options;
    options.ranks = 1 + seed % 4;
    options.shards = 1 + seed % 3;
    options.losses = 6;
    options.backup_workers = seed % 5 == 0 && options.ranks > 1;
    options.faults.drop = seed % 2 == 0 ? 0.02 : 0;
    options.faults.duplicate = seed % 3 == 0 ? 0.1 : 0;
    options.faults.push_delay = absl::Milliseconds(seed % 4 * 10);
    const bool loses = options.faults.drop > 0;
    options.push_timeout = loses ? absl::Milliseconds(300) : absl::Seconds(60);
    if (seed % 4 == 0) options.hold_every = absl::Milliseconds(80);
    StepRun run(seed, options);
    EXPECT_EQ(run.Run(), "") << "seed " << seed;
    EXPECT_GT(run.generations(), 1u) << "seed " << seed;
    if (!loses) {
      EXPECT_LT(run.longest_change(),
                StepShard::kSurvivorPatience + absl::Seconds(2))
          << "seed " << seed;
    }
    mended += run.mended();
    left_out += run.left_out();
    refused += run.refused();
  }
  EXPECT_GT(mended, 0u) << "the runs are too easy";
  EXPECT_GT(left_out, 0u);
  EXPECT_GT(refused, 0);
}

TEST(StepRunTest, AtAHoldAllShardsHaveTheSameSteps) {
  int holds = 0;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    StepRunOptions options;
    options.backup_workers = seed % 2;
    options.shards = 1 + seed % 3;
    options.faults.drop = seed % 3 == 0 ? 0.05 : 0;
    options.push_timeout = absl::Milliseconds(300);
    options.hold_every = absl::Milliseconds(80);
    StepRun run(seed, options);
    EXPECT_EQ(run.Run(), "") << "seed " << seed;
    holds += run.holds();
  }
  EXPECT_GT(holds, static_cast<int>(kSeeds));
}

}  // namespace
}  // namespace shoal
