#include "models/paced_model.h"

#include <memory>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tests/models/timed_model.h"

namespace shoal {
namespace {

constexpr int kBatch = 8;

// A clock that is read beside another one, which the model moves.
class SharedClock final : public SleepingClock {
 public:
  explicit SharedClock(const FakeSleepingClock* computed)
      : computed_(computed) {}
  absl::Time Now() const override { return computed_->Now() + waited_; }
  void SleepUntil(absl::Time time) override {
    if (time > Now()) waited_ += time - Now();
  }
  absl::Duration waited() const { return waited_; }

 private:
  const FakeSleepingClock* const computed_;
  absl::Duration waited_;
};

class PacedModelTest : public testing::Test {
 protected:
  void Pace(double pace) {
    auto model = std::make_unique<TimedModel>(&processor_);
    inner_ = model.get();
    paced_ = std::make_unique<PacedModel>(std::move(model), pace, &processor_,
                                          &clock_);
  }
  absl::Duration Since(absl::Time begin) const { return clock_.Now() - begin; }

  FakeSleepingClock processor_;
  SharedClock clock_{&processor_};  // where all time is computed or waited
  TimedModel* inner_ = nullptr;
  std::unique_ptr<PacedModel> paced_;
};

TEST_F(PacedModelTest, ACallLastsSoManyTimesItsProcessorTime) {
  Pace(2.5);
  SampleBatch batch(paced_->spec(), kBatch, 2, 5, 1);
  const absl::Time begin = clock_.Now();
  std::vector<absl::Duration> told;
  batch.on_final = [&](DenseRange) { told.push_back(Since(begin)); };
  batch.ForwardBackward(paced_.get());
  EXPECT_EQ(Since(begin), 2.5 * absl::Milliseconds(6));
  EXPECT_EQ(told, (std::vector<absl::Duration>{2.5 * absl::Milliseconds(3),
                                               2.5 * absl::Milliseconds(5)}));
}

TEST_F(PacedModelTest, TheTimeOfOnFinalComesOnTop) {
  Pace(2);
  SampleBatch batch(paced_->spec(), kBatch, 2, 5, 1);
  const absl::Time begin = clock_.Now();
  batch.on_final = [&](DenseRange) {
    processor_.Advance(absl::Seconds(1));
    clock_.SleepUntil(clock_.Now() + absl::Seconds(2));
  };
  batch.ForwardBackward(paced_.get());
  EXPECT_EQ(Since(begin), 2 * absl::Milliseconds(6) + absl::Seconds(2 * 3));
}

TEST_F(PacedModelTest, ACallThatIsSlowAlreadyIsNotWaitedFor) {
  Pace(.5);
  SampleBatch batch(paced_->spec(), kBatch, 2, 5, 1);
  batch.ForwardBackward(paced_.get());
  EXPECT_EQ(clock_.waited(), absl::ZeroDuration());
}

TEST_F(PacedModelTest, ResultsAreThoseOfTheModel) {
  Pace(3);
  SampleBatch batch(paced_->spec(), kBatch, 2, 5, 1);
  EXPECT_EQ(batch.ForwardBackward(paced_.get()), 7);
  EXPECT_EQ(batch.d_dense, std::vector<float>(10, 2));
  EXPECT_EQ(batch.d_rows, std::vector<float>(15, 3));
  std::vector<float> logits(kBatch);
  paced_->Predict(batch.input(), absl::MakeSpan(logits));
  EXPECT_EQ(logits, std::vector<float>(kBatch, 0.5));
  EXPECT_EQ(inner_->trained, 1);
  EXPECT_EQ(inner_->predicted, 1);
}

TEST_F(PacedModelTest, TheCallersOutputIsAsItWas) {
  Pace(2);
  SampleBatch batch(paced_->spec(), kBatch, 2, 5, 1);
  int told = 0;
  ModelOutput output{.logits = absl::MakeSpan(batch.logits),
                     .d_rows = {absl::MakeSpan(batch.d_rows)},
                     .d_dense = absl::MakeSpan(batch.d_dense),
                     .on_final = [&](DenseRange) { ++told; }};
  paced_->ForwardBackward(batch.input(), &output);
  output.on_final({0, 1});
  EXPECT_EQ(told, 3);
  output.on_final = nullptr;
  paced_->ForwardBackward(batch.input(), &output);
  EXPECT_FALSE(output.on_final) << "not wanted, so not told";
}

}  // namespace
}  // namespace shoal
