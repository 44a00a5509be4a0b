#include "worker/train/time_meter.h"

#include <numeric>

#include "gtest/gtest.h"

namespace shoal {
namespace {

absl::Time At(double seconds) {
  return absl::UnixEpoch() + absl::Seconds(seconds);
}

double Of(const WorkerTime& time, StepState state) {
  return time.seconds[static_cast<size_t>(state)];
}

TEST(TimeMeterTest, TheStatesAddUpAtEveryMoment) {
  Telemetry all;
  const WorkerTelemetry telemetry = WorkerTelemetry::Create(&all);
  TimeMeter meter(&telemetry);
  EXPECT_EQ(meter.Read(At(7)).seconds, StateSeconds{}) << "not begun";
  meter.Enter(StepState::kWaitLease, At(10));
  meter.Enter(StepState::kCompute, At(12));
  meter.Enter(StepState::kWaitRing, At(15));
  meter.Enter(StepState::kCompute, At(15.5));
  const WorkerTime time = meter.Read(At(20));
  EXPECT_DOUBLE_EQ(Of(time, StepState::kWaitLease), 2);
  EXPECT_DOUBLE_EQ(Of(time, StepState::kCompute), 3 + 4.5);
  EXPECT_DOUBLE_EQ(Of(time, StepState::kWaitRing), 0.5);
  EXPECT_DOUBLE_EQ(
      std::accumulate(time.seconds.begin(), time.seconds.end(), 0.0), 10);
  // What is not over is not in the metrics.
  EXPECT_DOUBLE_EQ(
      telemetry.seconds[static_cast<size_t>(StepState::kCompute)]->value(), 3);
}

TEST(TimeMeterTest, AStepLastsFromOneBatchsEndToTheNext) {
  Telemetry all;
  const WorkerTelemetry telemetry = WorkerTelemetry::Create(&all);
  TimeMeter meter(&telemetry, /*warmup_steps=*/1);
  meter.Enter(StepState::kCompute, At(0));
  meter.EndStep(At(1));  // no batch ended before
  meter.EndStep(At(3));  // warm-up
  meter.EndStep(At(3.25));
  meter.EndStep(At(3.75));
  const StepTimes steps = meter.Read(At(9)).steps;
  EXPECT_EQ(steps.micros.count(), 2u);
  EXPECT_EQ(steps.micros.sum(), 750'000);
  EXPECT_EQ(steps.micros.max(), 500'000u);
  EXPECT_DOUBLE_EQ(steps.square_sum, 0.25 * 0.25 + 0.5 * 0.5);
  EXPECT_DOUBLE_EQ(telemetry.step_seconds->Read().sum, 2.75)
      << "the metrics have the warm-up too";
}

TEST(TimeMeterTest, WaitsForALeaseAreInNoStep) {
  TimeMeter meter(nullptr);
  meter.Enter(StepState::kCompute, At(0));
  meter.EndStep(At(1));
  meter.Enter(StepState::kWaitLease, At(2));
  meter.Enter(StepState::kCompute, At(7));
  meter.EndStep(At(7.5));  // 1 s before the wait and .5 s after it
  // Two batches end during a wait: their pushes were in flight.
  meter.Enter(StepState::kWaitLease, At(8));
  meter.EndStep(At(8.25));  // .5 s, without .25 s of the wait
  meter.EndStep(At(8.5));   // nothing but the wait
  meter.Enter(StepState::kCompute, At(9));
  meter.EndStep(At(9.125));
  const StepTimes steps = meter.Read(At(9.125)).steps;
  EXPECT_EQ(steps.micros.count(), 4u);
  EXPECT_EQ(steps.micros.sum(), 1'500'000 + 500'000 + 0 + 125'000);
}

TEST(TimeMeterTest, AnEvaluationBetweenTwoBatchesIsInNoStep) {
  TimeMeter meter(nullptr);
  meter.Enter(StepState::kCompute, At(0));
  meter.EndStep(At(1));
  meter.LeaveOut();
  meter.EndStep(At(50));
  meter.EndStep(At(51));
  const StepTimes steps = meter.Read(At(51)).steps;
  EXPECT_EQ(steps.micros.count(), 1u);
  EXPECT_EQ(steps.micros.max(), 1'000'000u);
}

TEST(TimeMeterTest, AStepOfDaysCountsAsOneOfAnHour) {
  TimeMeter meter(nullptr);
  meter.EndStep(At(0));
  meter.EndStep(At(200'000));
  EXPECT_EQ(meter.Read(At(200'000)).steps.micros.max(),
            StepTimes::kMostMicros);
}

}  // namespace
}  // namespace shoal
