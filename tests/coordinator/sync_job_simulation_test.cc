#include "tests/coordinator/sync_job_simulation.h"

#include "gtest/gtest.h"
#include "tests/harness/seeds.h"

namespace shoal {
namespace {

TEST(SyncJobSimulationTest, EveryBatchIsTrainedOnceOnEveryShard) {
  uint64_t dropped = 0;
  int saves = 0;
  for (uint64_t seed = 1; seed <= Seeds(20); ++seed) {
    SyncJobSimulation job(seed, seed, /*backup=*/true);
    ASSERT_EQ(job.Run(), "") << "seed " << seed;
    dropped += job.dropped();
    saves += job.saves();
  }
  EXPECT_GT(dropped, 20u) << "the runs are too easy";
  EXPECT_GT(saves, 10);
}

TEST(SyncJobSimulationTest, NoDelayChangesTheStepsOfAJobWithoutBackupWorkers) {
  for (uint64_t shape = 1; shape <= Seeds(20); ++shape) {
    SyncJobSimulation first(shape, 1, /*backup=*/false);
    ASSERT_EQ(first.Run(), "") << "shape " << shape;
    EXPECT_EQ(first.dropped(), 0u);
    SyncJobSimulation second(shape, 2, /*backup=*/false);
    ASSERT_EQ(second.Run(), "") << "shape " << shape;
    EXPECT_EQ(first.steps(), second.steps()) << "shape " << shape;
  }
}

}  // namespace
}  // namespace shoal
