#include "models/recorded_model.h"

#include <memory>
#include <vector>

#include "gtest/gtest.h"
#include "tests/models/timed_model.h"

namespace shoal {
namespace {

constexpr int kBatch = 8;

class RecordedModelTest : public testing::Test {
 protected:
  RecordedModelTest() {
    auto model = std::make_unique<TimedModel>(&clock_);
    inner_ = model.get();
    recorded_ = std::make_unique<RecordedModel>(std::move(model), kBatch,
                                                &clock_);
  }
  SampleBatch Batch(int size = kBatch) const {
    return SampleBatch(recorded_->spec(), size, 2, 5, 1);
  }
  void WarmUp() {
    SampleBatch batch = Batch();
    for (uint64_t i = 0; i < TimelineSample::kWarmUpSteps; ++i) {
      batch.ForwardBackward(recorded_.get());
    }
  }

  FakeSleepingClock clock_;
  TimedModel* inner_;
  std::unique_ptr<RecordedModel> recorded_;
};

TEST_F(RecordedModelTest, KeepsTheTimesOfAStepAndItsRanges) {
  WarmUp();
  SampleBatch batch = Batch();
  batch.ForwardBackward(recorded_.get());
  const TimelineSample sample = recorded_->sample();
  ASSERT_EQ(sample.steps().size(), 1u);
  const StepTimeline& step = sample.steps()[0];
  EXPECT_EQ(step.total, absl::Milliseconds(6));
  ASSERT_EQ(step.finals.size(), 2u);
  EXPECT_EQ(step.finals[0].range.begin, 4u);
  EXPECT_EQ(step.finals[0].at, absl::Milliseconds(3));
  EXPECT_EQ(step.finals[1].at, absl::Milliseconds(5));
}

TEST_F(RecordedModelTest, TheTimeOfOnFinalIsNotTheModels) {
  WarmUp();
  SampleBatch batch = Batch();
  std::vector<size_t> begins;
  batch.on_final = [&](DenseRange range) {
    begins.push_back(range.begin);
    clock_.Advance(absl::Seconds(1));
  };
  batch.ForwardBackward(recorded_.get());
  EXPECT_EQ(begins, (std::vector<size_t>{4, 0})) << "all are told";
  const StepTimeline step = recorded_->sample().steps()[0];
  EXPECT_EQ(step.finals[0].at, absl::Milliseconds(3));
  EXPECT_EQ(step.finals[1].at, absl::Milliseconds(5));
  EXPECT_EQ(step.total, absl::Milliseconds(6));
}

TEST_F(RecordedModelTest, ResultsAreThoseOfTheModel) {
  WarmUp();
  for (const int size : {kBatch, kBatch - 1}) {
    SampleBatch batch = Batch(size);
    EXPECT_EQ(batch.ForwardBackward(recorded_.get()), 7);
    EXPECT_EQ(batch.d_dense, std::vector<float>(10, 2));
    EXPECT_EQ(batch.d_rows, std::vector<float>(15, 3));
    EXPECT_EQ(batch.logits, std::vector<float>(size, 0.25));
  }
  std::vector<float> logits(kBatch);
  recorded_->Predict(Batch().input(), absl::MakeSpan(logits));
  EXPECT_EQ(logits, std::vector<float>(kBatch, 0.5));
}

TEST_F(RecordedModelTest, ShortBatchesAreNotTimed) {
  WarmUp();
  SampleBatch batch = Batch(kBatch - 1);
  batch.ForwardBackward(recorded_.get());
  EXPECT_EQ(recorded_->sample().seen(), 0u);
}

TEST_F(RecordedModelTest, TheCallersOutputIsAsItWas) {
  WarmUp();
  SampleBatch batch = Batch();
  int told = 0;
  ModelOutput output{.logits = absl::MakeSpan(batch.logits),
                     .d_rows = {absl::MakeSpan(batch.d_rows)},
                     .d_dense = absl::MakeSpan(batch.d_dense),
                     .on_final = [&](DenseRange) { ++told; }};
  recorded_->ForwardBackward(batch.input(), &output);
  EXPECT_EQ(told, 2);
  output.on_final({0, 1});
  EXPECT_EQ(told, 3);
  EXPECT_EQ(recorded_->sample().steps()[0].finals.size(), 2u);
}

}  // namespace
}  // namespace shoal
