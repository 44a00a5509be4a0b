#include "worker/train/step_pipeline.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <utility>

namespace shoal {
namespace {

using Step = StepPipeline::Step;

class StepPipelineTest : public testing::Test {
 protected:
  StepPipelineTest() { evaluation_->lease.purpose = LeasePurpose::kEvaluate; }

  void Add(StepPipeline* pipeline, int batches,
           std::shared_ptr<OpenLease> lease = nullptr) {
    if (lease == nullptr) lease = training_;
    for (int i = 0; i < batches; ++i) {
      Batch batch;
      batch.id.index = added_++;
      pipeline->Add(lease, std::move(batch));
    }
  }
  // Pulls and computes the next step; what is left is its push, if any.
  static Step Compute(StepPipeline* pipeline) {
    Step step = pipeline->BeginPull();
    if (step == nullptr) return nullptr;
    pipeline->OnPulled(step.get());
    if (!pipeline->BeginCompute()) return nullptr;
    return pipeline->TakeComputing();
  }
  static Step Push(StepPipeline* pipeline) {
    Step step = Compute(pipeline);
    if (step != nullptr) pipeline->BeginExchange(step.get());
    return step;
  }

  const std::shared_ptr<OpenLease> training_ = std::make_shared<OpenLease>();
  const std::shared_ptr<OpenLease> evaluation_ = std::make_shared<OpenLease>();
  uint32_t added_ = 0;
};

TEST_F(StepPipelineTest, AtDepthZeroOneStepIsInFlight) {
  StepPipeline pipeline(0);
  Add(&pipeline, 2);
  Step first = Push(&pipeline);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(pipeline.BeginPull(), nullptr);
  pipeline.End(std::move(first));
  EXPECT_NE(pipeline.BeginPull(), nullptr);
}

TEST_F(StepPipelineTest, AtDepthOneAStepIsPulledBesideOnePush) {
  StepPipeline pipeline(1);
  Add(&pipeline, 3);
  Step first = Push(&pipeline);
  Step second = pipeline.BeginPull();
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(pipeline.BeginPull(), nullptr) << "two pulls at once";
  pipeline.OnPulled(second.get());
  ASSERT_TRUE(pipeline.BeginCompute());
  pipeline.BeginExchange(pipeline.TakeComputing().get());
  EXPECT_EQ(pipeline.exchanges(), 2);
  EXPECT_EQ(pipeline.BeginPull(), nullptr) << "two pushes are in flight";
}

TEST_F(StepPipelineTest, AnEvaluationPullsAheadAsFarAsItsDepth) {
  StepPipeline pipeline(1);
  Add(&pipeline, 3, evaluation_);
  EXPECT_NE(pipeline.BeginPull(), nullptr);
  EXPECT_NE(pipeline.BeginPull(), nullptr);
  EXPECT_EQ(pipeline.BeginPull(), nullptr);
}

TEST_F(StepPipelineTest, StepsAreComputedInOrderThoughLaterOnesArePulledFirst) {
  StepPipeline pipeline(2);
  Add(&pipeline, 2);
  Step first = pipeline.BeginPull();
  Step second = pipeline.BeginPull();
  ASSERT_NE(second, nullptr);
  pipeline.OnPulled(second.get());
  EXPECT_FALSE(pipeline.BeginCompute());
  EXPECT_EQ(pipeline.pulls(), 1);
  pipeline.OnPulled(first.get());
  EXPECT_TRUE(pipeline.BeginCompute());
  EXPECT_FALSE(pipeline.BeginCompute()) << "it was told so before";
  EXPECT_EQ(pipeline.TakeComputing(), first);
  EXPECT_EQ(first->train.batch.id.index, 0u);
}

TEST_F(StepPipelineTest, AStepsMemoryIsUsedAgain) {
  StepPipeline pipeline(0);
  std::set<PipelineStep*> memory;
  for (int i = 0; i < 5; ++i) {
    Add(&pipeline, 1);
    Step step = Push(&pipeline);
    ASSERT_NE(step, nullptr);
    EXPECT_EQ(step->train.batch.id.index, static_cast<uint32_t>(i));
    memory.insert(step.get());
    pipeline.End(std::move(step));
  }
  EXPECT_EQ(memory.size(), 1u);
}

TEST_F(StepPipelineTest, ItIsHeldOnceAHoldWhenNothingIsInFlight) {
  StepPipeline pipeline(1);
  Add(&pipeline, 3);
  Step step = Push(&pipeline);
  EXPECT_FALSE(pipeline.BecomesHeld()) << "it was not told to";
  pipeline.Hold();
  EXPECT_EQ(pipeline.BeginPull(), nullptr);
  EXPECT_FALSE(pipeline.BecomesHeld()) << "a push is in flight";
  pipeline.End(std::move(step));
  EXPECT_TRUE(pipeline.BecomesHeld());
  EXPECT_FALSE(pipeline.BecomesHeld());
  EXPECT_EQ(pipeline.BeginPull(), nullptr);
  EXPECT_FALSE(pipeline.WantsBatchOf(*training_)) << "two are read";
  pipeline.Resume();
  EXPECT_NE(pipeline.BeginPull(), nullptr);
}

TEST_F(StepPipelineTest, HeldItBeginsTheStepsOfItsHoldFirstAndAlone) {
  StepPipeline pipeline(1);
  Add(&pipeline, 2);
  EXPECT_EQ(pipeline.hold(), 0u);
  pipeline.Hold();
  const auto urgent = std::make_shared<OpenLease>();
  urgent->hold = pipeline.hold();
  EXPECT_NE(urgent->hold, 0u);
  EXPECT_FALSE(pipeline.WantsBatchOf(*training_));
  EXPECT_TRUE(pipeline.WantsBatchOf(*urgent));
  Add(&pipeline, 2, urgent);
  EXPECT_FALSE(pipeline.WantsBatchOf(*urgent));
  EXPECT_EQ(pipeline.BeginPull(), nullptr) << "it is not held yet";
  ASSERT_TRUE(pipeline.BecomesHeld());
  for (const uint32_t index : {2, 3}) {
    Step step = Push(&pipeline);
    ASSERT_NE(step, nullptr);
    EXPECT_EQ(step->train.batch.id.index, index);
    pipeline.End(std::move(step));
  }
  EXPECT_EQ(pipeline.BeginPull(), nullptr);
  // A later hold is not for what came in this one.
  Add(&pipeline, 1, urgent);
  pipeline.Resume();
  pipeline.Hold();
  ASSERT_TRUE(pipeline.BecomesHeld());
  EXPECT_NE(pipeline.hold(), urgent->hold);
  EXPECT_EQ(pipeline.BeginPull(), nullptr);
  pipeline.Resume();
  EXPECT_EQ(pipeline.BeginPull()->lease, urgent);
}

TEST_F(StepPipelineTest, APaceLimitsTheStepsThatBegin) {
  StepPipeline pipeline(0);
  Add(&pipeline, 5);
  EXPECT_FALSE(pipeline.paced());
  pipeline.SetPace(2);
  EXPECT_TRUE(pipeline.paced());
  for (int i = 0; i < 2; ++i) {
    Step step = Push(&pipeline);
    ASSERT_NE(step, nullptr);
    pipeline.End(std::move(step));
  }
  EXPECT_EQ(pipeline.finished(), 2u);
  EXPECT_EQ(pipeline.BeginPull(), nullptr);
  EXPECT_EQ(pipeline.WaitsFor(true), StepState::kWaitPace);
  pipeline.SetPace(1);
  EXPECT_EQ(pipeline.BeginPull(), nullptr);
  pipeline.SetPace(3);
  pipeline.SetPace(2);
  EXPECT_NE(pipeline.BeginPull(), nullptr) << "a pace never falls";
  EXPECT_EQ(pipeline.BeginPull(), nullptr);
}

TEST_F(StepPipelineTest, ThePipelinesDepthIsAddedToThePace) {
  for (const int depth : {0, 1, 2}) {
    StepPipeline pipeline(depth);
    Add(&pipeline, 9);
    pipeline.SetPace(3);
    int begun = 0;
    while (Step step = Push(&pipeline)) {
      pipeline.End(std::move(step));
      ++begun;
    }
    EXPECT_EQ(begun, 3 + depth);
    pipeline.SetPace(~uint64_t{0});
    EXPECT_NE(pipeline.BeginPull(), nullptr) << "the sum fits into no number";
  }
}

TEST_F(StepPipelineTest, StepsThatBeganBeforeThePaceCount) {
  StepPipeline pipeline(0);
  Add(&pipeline, 3);
  pipeline.End(Push(&pipeline));
  pipeline.SetPace(1);
  EXPECT_EQ(pipeline.finished(), 1u);
  EXPECT_EQ(pipeline.BeginPull(), nullptr);
}

TEST_F(StepPipelineTest, WhileAPushMayEndItWaitsForThatAndNotForItsPace) {
  StepPipeline pipeline(0);
  Add(&pipeline, 3);
  pipeline.SetPace(1);
  Step step = Push(&pipeline);
  EXPECT_EQ(pipeline.WaitsFor(true), StepState::kWaitPush);
  pipeline.End(std::move(step));
  EXPECT_EQ(pipeline.WaitsFor(true), StepState::kWaitPace);
}

TEST_F(StepPipelineTest, APaceLimitsAndCountsNoStepOfAnEvaluation) {
  StepPipeline pipeline(0);
  pipeline.SetPace(0);
  Add(&pipeline, 2, evaluation_);
  for (int i = 0; i < 2; ++i) {
    Step step = Compute(&pipeline);
    ASSERT_NE(step, nullptr);
    pipeline.End(std::move(step));
  }
  EXPECT_EQ(pipeline.finished(), 0u);
}

TEST_F(StepPipelineTest, AHoldAndItsLeasesDoNotWaitForThePace) {
  StepPipeline pipeline(1);
  Add(&pipeline, 3);
  pipeline.SetPace(1);
  Step first = Push(&pipeline);
  Step second = Push(&pipeline);
  EXPECT_EQ(pipeline.BeginPull(), nullptr);
  pipeline.Hold();
  pipeline.End(std::move(first));
  pipeline.End(std::move(second));
  ASSERT_TRUE(pipeline.BecomesHeld()) << "a step that waits is not in flight";
  const auto urgent = std::make_shared<OpenLease>();
  urgent->hold = pipeline.hold();
  Add(&pipeline, 2, urgent);
  for (int i = 0; i < 2; ++i) {
    Step step = Push(&pipeline);
    ASSERT_NE(step, nullptr);
    EXPECT_EQ(step->lease, urgent);
    pipeline.End(std::move(step));
  }
  EXPECT_EQ(pipeline.finished(), 2u) << "those of the hold do not count";
  pipeline.Resume();
  EXPECT_EQ(pipeline.BeginPull(), nullptr);
  pipeline.SetPace(2);
  EXPECT_NE(pipeline.BeginPull(), nullptr);
}

TEST_F(StepPipelineTest, DrainedItEndsWhatIsInFlightAndNothingElse) {
  StepPipeline pipeline(1);
  Add(&pipeline, 3);
  Step pushed = Push(&pipeline);
  Step pulled = pipeline.BeginPull();
  pipeline.OnPulled(pulled.get());
  pipeline.Drain();
  EXPECT_FALSE(pipeline.WantsBatchOf(*training_));
  EXPECT_EQ(pipeline.BeginPull(), nullptr);
  ASSERT_TRUE(pipeline.BeginCompute()) << "it was in flight";
  EXPECT_EQ(pipeline.TakeComputing(), pulled);
  pipeline.BeginExchange(pulled.get());
  pipeline.Hold();
  pipeline.Resume();
  pipeline.End(std::move(pushed));
  EXPECT_FALSE(pipeline.BecomesDrained());
  pipeline.End(std::move(pulled));
  EXPECT_TRUE(pipeline.BecomesDrained());
  EXPECT_TRUE(pipeline.ended());
}

TEST_F(StepPipelineTest, NoStepGoesOnAfterAFailureOrTheEnd) {
  for (const bool fails : {true, false}) {
    StepPipeline pipeline(1);
    Add(&pipeline, 1);
    Step step = pipeline.BeginPull();
    pipeline.OnPulled(step.get());
    ASSERT_TRUE(pipeline.BeginCompute());
    fails ? pipeline.Fail() : pipeline.Abandon();
    pipeline.Resume();
    EXPECT_EQ(pipeline.TakeComputing(), nullptr);
    EXPECT_FALSE(pipeline.WantsBatchOf(*training_));
    Add(&pipeline, 1);
    EXPECT_EQ(pipeline.BeginPull(), nullptr);
    EXPECT_EQ(pipeline.failed(), fails);
    EXPECT_EQ(pipeline.ended(), !fails);
  }
}

TEST_F(StepPipelineTest, ItSaysWhatTheWorkerWaitsFor) {
  StepPipeline pipeline(0);
  EXPECT_EQ(pipeline.WaitsFor(false), StepState::kWaitLease);
  EXPECT_EQ(pipeline.WaitsFor(true), StepState::kWaitData);
  Add(&pipeline, 2);
  Step step = pipeline.BeginPull();
  EXPECT_EQ(pipeline.WaitsFor(true), StepState::kWaitPull);
  pipeline.OnPulled(step.get());
  ASSERT_TRUE(pipeline.BeginCompute());
  EXPECT_EQ(pipeline.WaitsFor(true), StepState::kCompute);
  pipeline.BeginExchange(pipeline.TakeComputing().get());
  EXPECT_EQ(pipeline.WaitsFor(true), StepState::kWaitPush);
}

TEST_F(StepPipelineTest, AKeptStepIsNotInFlightAndNoStepOvertakesIt) {
  StepPipeline pipeline(0);
  Add(&pipeline, 2);
  Step step = Push(&pipeline);
  PipelineStep* const kept = step.get();
  pipeline.Keep(std::move(step));
  EXPECT_EQ(pipeline.exchanges(), 0);
  EXPECT_EQ(pipeline.BeginPull(), nullptr);
  EXPECT_EQ(pipeline.WaitsFor(true), StepState::kWaitPush);
  pipeline.Hold();
  EXPECT_TRUE(pipeline.BecomesHeld());
  EXPECT_EQ(pipeline.TakeKept(), nullptr) << "during the hold";
  pipeline.Resume();
  EXPECT_EQ(pipeline.BeginPull(), nullptr);
  step = pipeline.TakeKept();
  ASSERT_EQ(step.get(), kept);
  EXPECT_EQ(pipeline.exchanges(), 1);
  EXPECT_EQ(pipeline.TakeKept(), nullptr);
  pipeline.End(std::move(step));
  EXPECT_NE(pipeline.BeginPull(), nullptr);
}

TEST_F(StepPipelineTest, AKeptStepIsDroppedWithTheRest) {
  for (const bool drain : {true, false}) {
    StepPipeline pipeline(0);
    Add(&pipeline, 1);
    pipeline.Keep(Push(&pipeline));
    drain ? pipeline.Drain() : pipeline.Abandon();
    EXPECT_EQ(pipeline.BecomesDrained(), drain);
    EXPECT_EQ(pipeline.TakeKept(), nullptr);
  }
}

}  // namespace
}  // namespace shoal
