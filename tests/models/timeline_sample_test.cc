#include "models/timeline_sample.h"

#include "absl/time/time.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

// Adds steps until `count` whole ones are seen after the warm-up. The total of
// a step is its number after the warm-up, in nanoseconds.
void AddSteps(uint64_t count, size_t finals, TimelineSample* sample) {
  uint64_t number = 0;
  while (sample->seen() < count) {
    if (!sample->WantsNext()) {
      sample->Skip();
    } else {
      StepTimeline step;
      step.total = absl::Nanoseconds(sample->seen());
      step.finals.resize(finals);
      sample->Add(step);
    }
    ASSERT_LT(++number, count + 1000);
  }
}

TEST(TimelineSampleTest, TheWarmUpIsLeftOut) {
  TimelineSample sample;
  for (uint64_t i = 0; i < TimelineSample::kWarmUpSteps; ++i) {
    EXPECT_FALSE(sample.WantsNext());
    sample.Skip();
  }
  EXPECT_TRUE(sample.WantsNext());
  EXPECT_EQ(sample.seen(), 0u);
  EXPECT_TRUE(sample.steps().empty());
}

TEST(TimelineSampleTest, AShortRunIsKeptWhole) {
  TimelineSample sample;
  AddSteps(ComputeProfile::kMostSteps, 1, &sample);
  ASSERT_EQ(sample.steps().size(), ComputeProfile::kMostSteps);
  EXPECT_EQ(sample.steps()[7].total, absl::Nanoseconds(7));
}

TEST(TimelineSampleTest, ALongRunIsSampledEvenlyInBoundedMemory) {
  TimelineSample sample;
  AddSteps(100'000, 2, &sample);
  EXPECT_EQ(sample.seen(), 100'000u);
  const auto& steps = sample.steps();
  ASSERT_LE(steps.size(), ComputeProfile::kMostSteps);
  ASSERT_GT(steps.size(), ComputeProfile::kMostSteps / 2);
  const absl::Duration stride = steps[1].total - steps[0].total;
  for (size_t i = 0; i < steps.size(); ++i) {
    EXPECT_EQ(steps[i].total, stride * static_cast<int64_t>(i));
  }
}

TEST(TimelineSampleTest, ManyRangesAStepLeaveRoomForFewerSteps) {
  TimelineSample sample;
  AddSteps(1000, ComputeProfile::kMostFinals / 4, &sample);
  EXPECT_LE(sample.steps().size(), 4u);
  EXPECT_GE(sample.steps().size(), 2u);
  TimelineSample one;
  AddSteps(10, 2 * ComputeProfile::kMostFinals, &one);
  EXPECT_EQ(one.steps().size(), 1u);
}

}  // namespace
}  // namespace shoal
