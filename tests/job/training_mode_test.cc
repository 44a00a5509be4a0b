#include "job/training_mode.h"

#include <string>
#include <vector>

#include "coordinator/coordinator_options.h"
#include "gtest/gtest.h"
#include "launch/job_flag_set.h"
#include "launch/job_flags.h"

namespace shoal {
namespace {

// The coordinator's options of the mode that these flags name.
CoordinatorOptions Composed(Command command,
                            const std::vector<std::string>& args) {
  JobFlags flags(command);
  FlagSet set = JobFlagSet(&flags);
  EXPECT_TRUE(set.ReadArguments(args).ok());
  CoordinatorOptions options;
  KindOf(flags.training.mode).compose(flags, &options);
  return options;
}

TEST(TrainingModeTest, AsyncLimitsNoWorker) {
  EXPECT_FALSE(Composed(Command::kTrain, {}).ssp.has_value());
}

TEST(TrainingModeTest, SspHasItsBoundAndTheDepthOfTheWorkersPipelines) {
  const CoordinatorOptions run =
      Composed(Command::kPs, {"--mode=ssp", "--ssp_bound=7"});
  ASSERT_TRUE(run.ssp.has_value());
  EXPECT_EQ(run.ssp->bound, 7u);
  EXPECT_EQ(run.ssp->depth, 1u);
  const CoordinatorOptions train = Composed(Command::kTrain, {"--mode=ssp"});
  ASSERT_TRUE(train.ssp.has_value());
  EXPECT_EQ(train.ssp->bound, 3u);
  EXPECT_EQ(train.ssp->depth, 0u);
  EXPECT_EQ(Composed(Command::kTrain, {"--mode=ssp", "--pipeline_depth=2"})
                .ssp->depth,
            2u);
}

TEST(TrainingModeTest, ASynchronousModeTrainsInLanes) {
  const CoordinatorOptions sync = Composed(
      Command::kRun, {"--mode=sync", "--workers=3", "--backup_workers=1"});
  EXPECT_TRUE(sync.lanes);
  EXPECT_FALSE(sync.ring);
  EXPECT_EQ(sync.backup_workers, 1u);
  const CoordinatorOptions ring = Composed(Command::kRun, {"--mode=ring"});
  EXPECT_TRUE(ring.lanes);
  EXPECT_TRUE(ring.ring);
  EXPECT_FALSE(ring.backup_workers.has_value());
}

TEST(TrainingModeTest, HybridHasServersAndARingOfRanks) {
  const CoordinatorOptions hybrid =
      Composed(Command::kRun, {"--mode=hybrid", "--ps=2", "--workers=3"});
  EXPECT_TRUE(hybrid.lanes);
  EXPECT_TRUE(hybrid.ring);
  EXPECT_FALSE(hybrid.backup_workers.has_value());
  const TrainingModeKind& kind = KindOf(TrainingMode::kHybrid);
  EXPECT_TRUE(kind.servers && kind.ring);
  EXPECT_FALSE(kind.steps);
  EXPECT_EQ(kind.loss, StepLoss::kSum);
}

}  // namespace
}  // namespace shoal
