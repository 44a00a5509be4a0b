#include "coordinator/job_steps.h"

#include <string>
#include <variant>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/coordinator/members.h"
#include "tests/coordinator/sent_to.h"

namespace shoal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Two PSs (sessions 1 and 2) and two ranks (sessions 3 and 4).
class JobStepsTest : public testing::Test {
 protected:
  JobStepsTest()
      : membership_(MembershipOptions{.ps = {.count = 2}}),
        ps0_(Join(Role::kPs, 0, 1, &membership_)),
        ps1_(Join(Role::kPs, 1, 2, &membership_)),
        rank0_(Join(Role::kWorker, 0, 3, &membership_)),
        rank1_(Join(Role::kWorker, 1, 4, &membership_)),
        steps_({rank0_.life, rank1_.life}, 0) {}

  JobSteps::View View() const { return {membership_, lanes_}; }
  static StepParked Parked(const Member& rank, uint64_t step, uint32_t batch,
                           bool rejected = false) {
    return {step, rank.life, {{0, 0, batch}, 9, 10, rejected}};
  }
  CoordinatorActions Park(const Member& rank, uint64_t step, uint32_t batch) {
    const auto parked = steps_.OnParked(ps0_, Parked(rank, step, batch));
    EXPECT_TRUE(parked.ok()) << parked.status();
    return steps_.Step(View());
  }

  Membership membership_;
  Member ps0_;
  Member ps1_;
  Member rank0_;
  Member rank1_;
  std::vector<int> lanes_ = {0, 1};
  JobSteps steps_;
};

TEST_F(JobStepsTest, AStepIsClosedOnEveryPsInTheOrderOfRanks) {
  EXPECT_THAT(Park(rank1_, 1, 5), IsEmpty());
  EXPECT_EQ(steps_.WaitingFor(View()), "step 1 waits for rank 0");
  ASSERT_TRUE(steps_.OnParked(ps0_, Parked(rank0_, 1, 4, true)).ok());
  StepClosed closed;
  EXPECT_THAT(SentTo<StepClosed>(steps_.Step(View()), &closed),
              ElementsAre(1, 2));
  EXPECT_EQ(closed.step, 1u);
  EXPECT_FALSE(closed.hold);
  EXPECT_THAT(closed.batches,
              ElementsAre(PushedBatch{{0, 0, 4}, 9, 10, true},
                          PushedBatch{{0, 0, 5}, 9, 10, false}))
      << "rejected batches too";
  EXPECT_EQ(steps_.closed_batches(), 2u);
}

TEST_F(JobStepsTest, OnlyPs0TellsOfParkedPushes) {
  EXPECT_TRUE(absl::IsInvalidArgument(
      steps_.OnParked(ps1_, Parked(rank0_, 1, 4)).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(
      steps_.OnTakenOut(ps1_, {1, rank0_.life}).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(
      steps_.OnParked(ps0_, Parked(rank0_, 2, 4)).status()))
      << "step 1 is open";
}

TEST_F(JobStepsTest, APushOfAWorkerThatIsNoRankEndsTheJob) {
  Member stranger = rank0_;
  stranger.life.n = 99;
  const auto effects = steps_.OnParked(ps0_, Parked(stranger, 1, 4));
  ASSERT_TRUE(effects.ok());
  ASSERT_TRUE(effects->end.has_value());
  EXPECT_THAT(std::string(effects->end->status.message()),
              HasSubstr("is not one of the 2 ranks"));
}

TEST_F(JobStepsTest, APushThatIsTakenOutMustBeParkedAnew) {
  Park(rank0_, 1, 4);
  ASSERT_TRUE(steps_.OnTakenOut(ps0_, {1, rank0_.life}).ok());
  EXPECT_THAT(Park(rank1_, 1, 5), IsEmpty());
  EXPECT_THAT(SentTo<StepClosed>(Park(rank0_, 1, 4)), SizeIs(2));
}

TEST_F(JobStepsTest, AStepDoesNotWaitForALaneThatHasEnded) {
  Park(rank0_, 1, 4);
  lanes_ = {0};
  EXPECT_THAT(SentTo<StepClosed>(steps_.Step(View())), SizeIs(2));
}

TEST_F(JobStepsTest, ALateBatchIsDroppedAndSaidSo) {
  steps_ = JobSteps({rank0_.life, rank1_.life}, 1);
  EXPECT_THAT(SentTo<StepClosed>(Park(rank1_, 1, 5)), SizeIs(2));
  const CoordinatorActions actions = Park(rank0_, 1, 4);
  ASSERT_THAT(actions, SizeIs(1));
  const auto& log = std::get<LogAction>(actions[0]);
  EXPECT_EQ(log.level, LogLevel::kDebug);
  EXPECT_EQ(log.line,
            "batch (0,0,4) of worker 0 came too late for step 1 and is trained "
            "later");
  EXPECT_EQ(steps_.closed_batches(), 1u);
}

TEST_F(JobStepsTest, AHoldIsReachedWithTheNextStep) {
  Park(rank0_, 1, 4);
  EXPECT_THAT(steps_.Hold(View()), IsEmpty());
  EXPECT_FALSE(steps_.held());
  StepClosed closed;
  EXPECT_THAT(SentTo<StepClosed>(Park(rank1_, 1, 5), &closed), SizeIs(2));
  EXPECT_TRUE(closed.hold);
  EXPECT_TRUE(steps_.held());
  Park(rank0_, 2, 6);
  EXPECT_THAT(Park(rank1_, 2, 7), IsEmpty()) << "no step during a hold";
  const CoordinatorActions released = steps_.Release(View());
  EXPECT_THAT(SentTo<StepsReleased>(released), ElementsAre(1, 2));
  EXPECT_FALSE(steps_.held());
  EXPECT_THAT(SentTo<StepClosed>(released, &closed), ElementsAre(1, 2));
  EXPECT_EQ(closed.step, 2u);
  EXPECT_FALSE(closed.hold);
}

TEST_F(JobStepsTest, AHoldIsReachedAtOnceIfNoLaneIsOpen) {
  lanes_ = {};
  EXPECT_THAT(steps_.Hold(View()), IsEmpty());
  EXPECT_TRUE(steps_.held());
}

TEST_F(JobStepsTest, AGenerationEndsWithTheNewestStepsBatchesOfTheLost) {
  Park(rank0_, 1, 4);
  Park(rank1_, 1, 5);
  Park(rank0_, 2, 6);
  EXPECT_EQ(steps_.steps(), 1u);
  EXPECT_THAT(steps_.EndGeneration({rank1_.life}),
              ElementsAre(BatchId{0, 0, 5}));
  EXPECT_THAT(steps_.EndGeneration({rank0_.life, rank1_.life}),
              ElementsAre(BatchId{0, 0, 4}, BatchId{0, 0, 5}))
      << "another one is lost";
  EXPECT_THAT(Park(rank1_, 2, 7), IsEmpty()) << "no step is closed";
  EXPECT_EQ(steps_.WaitingFor(View()), "");
  Member back = rank1_;
  back.life.n = 99;
  steps_.BeginGeneration({rank0_.life, back.life}, 0, 1);
  EXPECT_THAT(Park(back, 2, 8), IsEmpty()) << "rank 0's push is gone";
  EXPECT_THAT(Park(rank1_, 2, 7), IsEmpty()) << "of a former rank";
  StepClosed closed;
  EXPECT_THAT(SentTo<StepClosed>(Park(rank0_, 2, 6), &closed), SizeIs(2));
  EXPECT_EQ(closed.step, 2u);
  EXPECT_THAT(closed.batches,
              ElementsAre(PushedBatch{{0, 0, 6}, 9, 10, false},
                          PushedBatch{{0, 0, 8}, 9, 10, false}));
  EXPECT_EQ(steps_.steps(), 2u);
}

TEST_F(JobStepsTest, NoBatchOfAnOlderStepOrGenerationIsLeftOut) {
  Park(rank0_, 1, 4);
  Park(rank1_, 1, 5);
  lanes_ = {0};
  Park(rank0_, 2, 6);
  EXPECT_THAT(steps_.EndGeneration({rank1_.life}), IsEmpty());
  steps_.BeginGeneration({rank0_.life}, 0, 2);
  EXPECT_THAT(steps_.EndGeneration({rank0_.life}), IsEmpty());
}

TEST_F(JobStepsTest, AHoldOutlivesAGenerationUntilItIsReleased) {
  steps_.Hold(View());
  Park(rank0_, 1, 4);
  Park(rank1_, 1, 5);
  ASSERT_TRUE(steps_.held());
  steps_.EndGeneration({});
  EXPECT_THAT(SentTo<StepsReleased>(steps_.Release(View())), SizeIs(2));
  steps_.BeginGeneration({rank0_.life}, 0, 1);
  lanes_ = {0};
  EXPECT_THAT(SentTo<StepClosed>(Park(rank0_, 2, 6)), SizeIs(2));
}

TEST_F(JobStepsTest, BatchesAreSettledByTheCountsOfTheirGeneration) {
  EXPECT_TRUE(steps_.Settled(TrainingBook()));
  Park(rank0_, 1, 4);
  Park(rank1_, 1, 5);
  EXPECT_FALSE(steps_.Settled(TrainingBook())) << "their marks are missing";
  // Batch 5 was left out on a PS, so it gets no mark.
  steps_.EndGeneration({rank1_.life});
  steps_.BeginGeneration({rank0_.life}, 0, 1);
  EXPECT_TRUE(steps_.Settled(TrainingBook()));
  EXPECT_EQ(steps_.closed_batches(), 0u);
}

TEST_F(JobStepsTest, AHoldThatWasNotReachedIsToldToNoPs) {
  steps_.Hold(View());
  EXPECT_THAT(steps_.Release(View()), IsEmpty());
}

}  // namespace
}  // namespace shoal
