#include "cluster/step_closer.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cluster/step_simulation.h"

namespace shoal {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Life LifeOf(int rank) { return {1, static_cast<uint32_t>(rank + 1)}; }

// Three ranks.
class StepCloserTest : public testing::Test {
 protected:
  static StepCloser Make(uint32_t backup_workers = 0) {
    StepCloserOptions options;
    options.ranks = {LifeOf(0), LifeOf(1), LifeOf(2)};
    options.backup_workers = backup_workers;
    return StepCloser(options);
  }
  static StepBatch Batch(uint32_t index, uint64_t examples = 10) {
    return {.batch = {0, 0, index}, .lease = 5, .examples = examples};
  }

  CloserActions Park(int rank, uint64_t step, StepBatch batch) {
    const absl::Status status = closer_.OnParked(LifeOf(rank), step, batch);
    EXPECT_TRUE(status.ok()) << status;
    return closer_.Step({lanes_});
  }
  CloserActions Park(int rank, uint64_t step, uint32_t index) {
    return Park(rank, step, Batch(index));
  }
  // The only action, a CloseStep.
  static CloseStep Closed(const CloserActions& actions) {
    EXPECT_THAT(actions, SizeIs(1));
    const auto* close =
        actions.empty() ? nullptr : std::get_if<CloseStep>(&actions[0]);
    EXPECT_NE(close, nullptr);
    return close == nullptr ? CloseStep() : *close;
  }
  std::string WaitingFor() const { return closer_.WaitingFor({lanes_}); }

  std::vector<int> lanes_ = {0, 1, 2};
  StepCloser closer_ = Make();
};

TEST_F(StepCloserTest, AStepHasABatchOfEveryLaneInTheOrderOfRanks) {
  EXPECT_THAT(Park(2, 1, 2), IsEmpty());
  EXPECT_EQ(WaitingFor(), "step 1 waits for ranks 0, 1");
  EXPECT_THAT(Park(0, 1, 0), IsEmpty());
  EXPECT_EQ(WaitingFor(), "step 1 waits for rank 1");
  const CloseStep close = Closed(Park(1, 1, Batch(1, 4)));
  EXPECT_EQ(close.step, 1u);
  EXPECT_EQ(close.examples, 24u);
  EXPECT_FALSE(close.hold);
  ASSERT_THAT(close.batches, SizeIs(3));
  for (int rank = 0; rank < 3; ++rank) {
    EXPECT_EQ(close.batches[rank].rank, rank);
    EXPECT_EQ(close.batches[rank].batch.index, static_cast<uint32_t>(rank));
    EXPECT_EQ(close.batches[rank].lease, 5u);
  }
  EXPECT_EQ(closer_.open_step(), 2u);
}

TEST_F(StepCloserTest, ARejectedBatchIsInTheStepWithoutItsExamples) {
  Park(0, 1, 0);
  Park(1, 1, 1);
  StepBatch rejected = Batch(2);
  rejected.rejected = true;
  const CloseStep close = Closed(Park(2, 1, rejected));
  EXPECT_EQ(close.examples, 20u);
  EXPECT_TRUE(close.batches[2].rejected);
}

TEST_F(StepCloserTest, ALaneThatHasEndedIsNotWaitedFor) {
  Park(0, 1, 0);
  Park(2, 1, 2);
  lanes_ = {0, 2};
  EXPECT_THAT(Closed(closer_.Step({lanes_})).batches, SizeIs(2));
  lanes_ = {};
  EXPECT_THAT(closer_.Step({lanes_}), IsEmpty()) << "the epoch is over";
  EXPECT_EQ(WaitingFor(), "");
  lanes_ = {1};
  EXPECT_EQ(Closed(Park(1, 2, 9)).step, 2u) << "the next epoch";
}

TEST_F(StepCloserTest, BackupWorkersAreNotWaitedForAndTheirBatchesDropped) {
  closer_ = Make(1);
  EXPECT_THAT(Park(1, 1, 1), IsEmpty());
  EXPECT_THAT(Closed(Park(2, 1, 2)).batches, SizeIs(2));
  const CloserActions late = Park(0, 1, 0);
  ASSERT_THAT(late, SizeIs(1));
  const auto& dropped = std::get<StepDropped>(late[0]);
  EXPECT_EQ(dropped.rank, 0);
  EXPECT_EQ(dropped.step, 1u);
  EXPECT_EQ(dropped.batch, (BatchId{0, 0, 0}));
  EXPECT_THAT(Park(0, 1, 0), IsEmpty()) << "the same push, sent again";
  EXPECT_THAT(Park(2, 1, 2), IsEmpty()) << "was in time";
  Park(1, 2, 4);
  Park(0, 2, 3);
  EXPECT_EQ(closer_.open_step(), 3u);
}

TEST_F(StepCloserTest, TheLastLaneIsWaitedForInSpiteOfBackupWorkers) {
  closer_ = Make(2);
  lanes_ = {1};
  EXPECT_THAT(closer_.Step({lanes_}), IsEmpty());
  EXPECT_EQ(closer_.open_step(), 1u);
  EXPECT_THAT(Closed(Park(1, 1, 1)).batches, SizeIs(1));
}

TEST_F(StepCloserTest, APushThatWasTakenOutIsWaitedForAgain) {
  Park(0, 1, 0);
  Park(1, 1, 1);
  closer_.OnTakenOut(LifeOf(0), 1);
  EXPECT_THAT(Park(2, 1, 2), IsEmpty());
  EXPECT_THAT(Closed(Park(0, 1, 0)).batches, SizeIs(3));
  closer_.OnTakenOut(LifeOf(0), 1);
  EXPECT_THAT(Park(0, 1, 0), IsEmpty()) << "its step was closed with it";
}

TEST_F(StepCloserTest, AHoldIsReachedWithTheOpenStep) {
  Park(0, 1, 0);
  closer_.Hold();
  EXPECT_THAT(closer_.Step({lanes_}), IsEmpty()) << "ranks are in step 1";
  Park(1, 1, 1);
  const CloserActions actions = Park(2, 1, 2);
  ASSERT_THAT(actions, SizeIs(2));
  EXPECT_TRUE(std::get<CloseStep>(actions[0]).hold);
  EXPECT_EQ(std::get<StepHeld>(actions[1]).step, 1u);
  EXPECT_TRUE(closer_.held());
  for (int rank = 0; rank < 3; ++rank) {
    EXPECT_THAT(Park(rank, 2, 3 + rank), IsEmpty()) << "no step is closed";
  }
  closer_.Release();
  const CloseStep close = Closed(closer_.Step({lanes_}));
  EXPECT_EQ(close.step, 2u);
  EXPECT_FALSE(close.hold);
}

TEST_F(StepCloserTest, AHoldBetweenEpochsIsReachedAtOnce) {
  lanes_ = {};
  closer_.Hold();
  const CloserActions actions = closer_.Step({lanes_});
  ASSERT_THAT(actions, SizeIs(1));
  EXPECT_EQ(std::get<StepHeld>(actions[0]).step, 0u);
}

TEST_F(StepCloserTest, TheRanksOfAGenerationAreFixed) {
  const absl::Status joined = closer_.Admit({1, 9});
  EXPECT_EQ(joined.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(joined.message(), HasSubstr("not one of the 3 ranks"));
  EXPECT_EQ(closer_.OnParked({1, 9}, 1, Batch(0)).code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(closer_.Admit(LifeOf(2)).ok());
}

TEST_F(StepCloserTest, APushThatCannotBeRightIsRefused) {
  EXPECT_EQ(closer_.OnParked(LifeOf(0), 2, Batch(0)).code(),
            absl::StatusCode::kInvalidArgument);
  Park(0, 1, 0);
  EXPECT_THAT(Park(0, 1, 0), IsEmpty()) << "the same push again";
  const absl::Status second = closer_.OnParked(LifeOf(0), 1, Batch(1));
  EXPECT_EQ(second.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(second.message(), HasSubstr("after batch (0,0,0)"));
}

TEST(StepSimulationTest, EveryBatchIsTrainedOnceInOneSetOfBatchesAStep) {
  uint64_t dropped = 0;
  int holds = 0;
  for (uint64_t seed = 1; seed <= 500; ++seed) {
    StepSimulation job(seed, seed, StepBug::kNone);
    ASSERT_EQ(job.Run(), "") << "seed " << seed;
    dropped += job.dropped();
    holds += job.holds();
  }
  EXPECT_GT(dropped, 1000u) << "the runs are too easy";
  EXPECT_GT(holds, 500);
}

// Of two jobs that differ in their delays alone, how many have steps that
// differ. In each job every batch is trained once.
int StepsThatDependOnTime(StepBug bug) {
  int found = 0;
  for (uint64_t shape = 1; shape <= 200; ++shape) {
    StepSimulation first(shape, 1, bug, /*backup=*/false);
    StepSimulation second(shape, 2, bug, /*backup=*/false);
    EXPECT_EQ(first.Run(), "") << "shape " << shape;
    EXPECT_EQ(second.Run(), "") << "shape " << shape;
    EXPECT_EQ(first.dropped() + second.dropped(), 0u);
    if (first.steps() != second.steps()) ++found;
  }
  return found;
}

TEST(StepSimulationTest, NoDelayChangesTheStepsOfAJobWithoutBackupWorkers) {
  EXPECT_EQ(StepsThatDependOnTime(StepBug::kNone), 0);
}

TEST(StepSimulationTest, FindsADealByArrival) {
  const int found = StepsThatDependOnTime(StepBug::kDealByArrival);
  EXPECT_GT(found, 0);
  RecordProperty("deal_by_arrival", found);
}

TEST(StepSimulationTest, FindsEachPlantedBug) {
  for (const StepBug bug :
       {StepBug::kEachShardCloses, StepBug::kHoldByTime,
        StepBug::kPushesDuringHold, StepBug::kDropForgotten}) {
    int found = 0;
    for (uint64_t seed = 1; seed <= 200; ++seed) {
      if (!StepSimulation(seed, seed, bug).Run().empty()) ++found;
    }
    EXPECT_GT(found, 0) << "bug " << static_cast<int>(bug);
    RecordProperty(absl::StrCat("bug_", static_cast<int>(bug)), found);
  }
}

}  // namespace
}  // namespace shoal
