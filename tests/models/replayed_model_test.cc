#include "models/replayed_model.h"

#include <cmath>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "core/sound_gradient.h"
#include "gtest/gtest.h"
#include "models/backend/create_backend.h"
#include "models/recorded_model.h"
#include "tests/models/model_cases.h"
#include "tests/models/timed_model.h"

namespace shoal {
namespace {

constexpr int kBatch = 8;

std::shared_ptr<ComputeProfile> ProfileOf(std::vector<StepTimeline> steps) {
  auto profile = std::make_shared<ComputeProfile>();
  profile->shape = ComputeShape::Of(TimedSpec(), 2, kBatch);
  profile->steps = std::move(steps);
  return profile;
}

class ReplayedModelTest : public testing::Test {
 protected:
  std::unique_ptr<ReplayedModel> Replay(std::vector<StepTimeline> steps,
                                        double scale = 1, int worker = 0) {
    auto model = std::make_unique<TimedModel>(&clock_);
    inner_ = model.get();
    step_ = model->step;
    if (steps.empty()) steps = {step_};
    return std::make_unique<ReplayedModel>(
        std::move(model), ProfileOf(std::move(steps)), worker, scale, &clock_);
  }
  SampleBatch Batch(int size = kBatch) const {
    return SampleBatch(TimedSpec(), size, 2, 5, 1);
  }
  // The time that the batch takes.
  absl::Duration Took(ReplayedModel* model, SampleBatch* batch) {
    const absl::Time begin = clock_.Now();
    batch->ForwardBackward(model);
    return clock_.Now() - begin;
  }

  FakeSleepingClock clock_;
  TimedModel* inner_ = nullptr;
  StepTimeline step_;
};

TEST_F(ReplayedModelTest, TellsTheRangesAtTheTimesOfTheRecord) {
  const auto model = Replay({});
  SampleBatch batch = Batch();
  std::vector<std::pair<size_t, absl::Duration>> told;
  batch.on_final = [&](DenseRange range) {
    told.emplace_back(range.begin, clock_.SinceStart());
    for (size_t i = range.begin; i < range.end; ++i) {
      EXPECT_EQ(std::abs(batch.d_dense[i]), 1.0f / 64) << "is final";
    }
  };
  EXPECT_EQ(Took(model.get(), &batch), absl::Milliseconds(6));
  EXPECT_EQ(told, (std::vector<std::pair<size_t, absl::Duration>>{
                      {4, absl::Milliseconds(3)}, {0, absl::Milliseconds(5)}}));
  EXPECT_EQ(inner_->trained, 0) << "nothing is computed";
}

TEST_F(ReplayedModelTest, TheTimeOfOnFinalComesOnTop) {
  const auto model = Replay({});
  SampleBatch batch = Batch();
  std::vector<absl::Duration> told;
  batch.on_final = [&](DenseRange) {
    told.push_back(clock_.SinceStart());
    clock_.Advance(absl::Milliseconds(10));
  };
  EXPECT_EQ(Took(model.get(), &batch), absl::Milliseconds(26));
  EXPECT_EQ(told, (std::vector<absl::Duration>{absl::Milliseconds(3),
                                               absl::Milliseconds(15)}));
}

TEST_F(ReplayedModelTest, ScaleStretchesAndAShortBatchTakesItsShare) {
  const auto model = Replay({}, 2.5);
  SampleBatch whole = Batch();
  EXPECT_EQ(Took(model.get(), &whole), absl::Milliseconds(15));
  SampleBatch half = Batch(kBatch / 2);
  EXPECT_EQ(Took(model.get(), &half), absl::Microseconds(7500));
  EXPECT_EQ(model->error().wanted, absl::Microseconds(22500));
}

TEST_F(ReplayedModelTest, StepsFollowEachOtherAsInTheRecord) {
  std::vector<StepTimeline> steps(4);
  for (int i = 0; i < 4; ++i) {
    steps[i].finals = {{{0, 10}, absl::ZeroDuration()}};
    steps[i].total = absl::Milliseconds(10 + i);
  }
  const auto first_six = [&](int worker) {
    const auto model = Replay(steps, 1, worker);
    std::vector<int64_t> took;
    for (uint32_t i = 0; i < 6; ++i) {
      SampleBatch batch = Batch();
      // Each worker has batches of its own, which do not choose the times.
      batch.batch = {i % 3, static_cast<uint32_t>(worker), i};
      took.push_back(absl::ToInt64Milliseconds(Took(model.get(), &batch)));
    }
    return took;
  };
  EXPECT_EQ(first_six(0), (std::vector<int64_t>{10, 11, 12, 13, 10, 11}));
  static_assert(ReplayedModel::kStepsApart == 7);
  EXPECT_EQ(first_six(1), (std::vector<int64_t>{13, 10, 11, 12, 13, 10}))
      << "the steps that are 7 later than those of worker 0";
  EXPECT_EQ(first_six(7), first_six(3));
}

TEST_F(ReplayedModelTest, AnEvaluationDoesNotMoveTheSteps) {
  std::vector<StepTimeline> steps(2);
  for (int i = 0; i < 2; ++i) {
    steps[i].finals = {{{0, 10}, absl::ZeroDuration()}};
    steps[i].total = absl::Milliseconds(3 + 3 * i);
  }
  const auto model = Replay(steps);
  std::vector<float> logits(kBatch);
  model->Predict(Batch().input(), absl::MakeSpan(logits));
  SampleBatch batch = Batch();
  EXPECT_EQ(Took(model.get(), &batch), absl::Milliseconds(3));
}

TEST_F(ReplayedModelTest, LatenessIsMeasured) {
  const auto model = Replay({});
  SampleBatch batch = Batch();
  batch.ForwardBackward(model.get());
  EXPECT_EQ(model->error().late, absl::ZeroDuration());
  clock_.oversleep = absl::Microseconds(50);
  batch.ForwardBackward(model.get());
  const ReplayError error = model->error();
  EXPECT_EQ(error.steps, 2u);
  EXPECT_EQ(error.wanted, absl::Milliseconds(12));
  EXPECT_EQ(error.late, absl::Microseconds(50));
  EXPECT_EQ(error.latest, absl::Microseconds(50));
}

TEST_F(ReplayedModelTest, LateRangesDoNotMakeTheStepLate) {
  const auto model = Replay({});
  clock_.oversleep = absl::Microseconds(50);
  SampleBatch batch = Batch();
  batch.on_final = [](DenseRange) {};
  EXPECT_EQ(Took(model.get(), &batch), absl::Microseconds(6050));
}

TEST_F(ReplayedModelTest, TheGradientIsFixedSoundAndThatOfTheDivisor) {
  const auto model = Replay({});
  SampleBatch mean = Batch();
  EXPECT_EQ(mean.ForwardBackward(model.get()), 0) << "is not known";
  EXPECT_TRUE(IsSound(mean.d_dense));
  EXPECT_TRUE(IsSound(mean.d_rows));
  SampleBatch again = Batch();
  again.ForwardBackward(model.get());
  EXPECT_EQ(mean.d_dense, again.d_dense);
  EXPECT_EQ(mean.d_rows, again.d_rows);
  SampleBatch sum = Batch();
  sum.loss_divisor = 1;
  sum.ForwardBackward(model.get());
  for (size_t i = 0; i < sum.d_dense.size(); ++i) {
    EXPECT_EQ(sum.d_dense[i], kBatch * mean.d_dense[i]);
    EXPECT_EQ(std::abs(mean.d_dense[i]), 1.0f / 64);
  }
  // Every row gets the same.
  for (size_t i = 3; i < mean.d_rows.size(); ++i) {
    EXPECT_EQ(mean.d_rows[i], mean.d_rows[i - 3]);
  }
}

TEST_F(ReplayedModelTest, BatchesHaveBothSigns) {
  const auto model = Replay({});
  SampleBatch batch = Batch();
  std::set<float> first;
  for (uint32_t i = 0; i < 20; ++i) {
    batch.batch.index = i;
    batch.ForwardBackward(model.get());
    first.insert(batch.d_dense[0]);
  }
  EXPECT_EQ(first, (std::set<float>{-1.0f / 64, 1.0f / 64}));
}

TEST_F(ReplayedModelTest, PredictTakesAThirdAndScoresNothing) {
  const auto model = Replay({});
  std::vector<float> logits(kBatch, 9);
  model->Predict(Batch().input(), absl::MakeSpan(logits));
  EXPECT_EQ(clock_.SinceStart(), absl::Milliseconds(2));
  EXPECT_EQ(logits, std::vector<float>(kBatch, 0));
  EXPECT_EQ(inner_->predicted, 0);
  std::vector<ScoredExample> ranked;
  model->objective().metrics().AppendRanked(logits, {}, &ranked);
  EXPECT_TRUE(ranked.empty()) << "there is no AUC";
}

// What real models tell, recorded and replayed.
TEST(RecordAndReplayTest, EveryModelsRangesComeBackInTheirOrder) {
  for (const ModelCase& each : ModelCases()) {
    SCOPED_TRACE(each.Name());
    const auto backend = each.backend->create();
    FakeSleepingClock clock;
    RecordedModel recorded(each.Create(backend.get()), kBatch, &clock);
    SampleBatch batch = SampleFor(recorded, kBatch, 3);
    std::vector<std::pair<size_t, size_t>> real;
    batch.on_final = [&](DenseRange range) {
      real.emplace_back(range.begin, range.end);
    };
    for (uint64_t i = 0; i < TimelineSample::kWarmUpSteps + 1; ++i) {
      real.clear();
      batch.ForwardBackward(&recorded);
    }
    ComputeProfile profile;
    profile.shape =
        ComputeShape::Of(recorded.spec(), ModelCase::kFields, kBatch);
    profile.steps = recorded.sample().steps();
    auto read = ParseComputeProfile(ComputeProfileText(profile));
    ASSERT_TRUE(read.ok()) << read.status();
    ReplayedModel replayed(
        each.Create(backend.get()),
        std::make_shared<const ComputeProfile>(*std::move(read)), 0, 1,
        &clock);
    std::vector<std::pair<size_t, size_t>> played;
    batch.on_final = [&](DenseRange range) {
      played.emplace_back(range.begin, range.end);
    };
    batch.ForwardBackward(&replayed);
    EXPECT_EQ(played, real);
  }
}

}  // namespace
}  // namespace shoal
