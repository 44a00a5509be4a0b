#include "rpc/retry/retry_schedule.h"

#include <gtest/gtest.h>

namespace shoal {
namespace {

const absl::Time kStart = absl::FromUnixSeconds(1'000'000'000);

RetryOptions Options() {
  RetryOptions options;
  options.backoff.initial = absl::Milliseconds(20);
  options.backoff.max = absl::Milliseconds(100);
  options.backoff.jitter = 0;
  options.attempt_timeout = absl::Seconds(5);
  return options;
}

TEST(RetryScheduleTest, DelaysGrowToTheMaximum) {
  RetrySchedule schedule(Options(), kStart + absl::Seconds(10), /*seed=*/1);
  for (const int ms : {20, 40, 80, 100, 100}) {
    EXPECT_EQ(schedule.NextDelay(absl::StatusCode::kUnavailable, kStart),
              absl::Milliseconds(ms));
  }
  EXPECT_EQ(schedule.attempts(), 5);
}

TEST(RetryScheduleTest, OnlyErrorsThatPassAreTriedAgain) {
  for (int code = 1; code <= 16; ++code) {
    const auto status = static_cast<absl::StatusCode>(code);
    const bool passes = status == absl::StatusCode::kUnavailable ||
                        status == absl::StatusCode::kDeadlineExceeded ||
                        status == absl::StatusCode::kResourceExhausted;
    RetrySchedule schedule(Options(), kStart + absl::Seconds(10), /*seed=*/1);
    EXPECT_EQ(schedule.NextDelay(status, kStart).has_value(), passes) << code;
  }
}

TEST(RetryScheduleTest, NoAttemptStartsAtOrAfterTheDeadline) {
  const absl::Time deadline = kStart + absl::Milliseconds(20);
  RetrySchedule late(Options(), deadline, /*seed=*/1);
  EXPECT_FALSE(
      late.NextDelay(absl::StatusCode::kUnavailable, kStart).has_value());
  RetrySchedule in_time(Options(), deadline + absl::Milliseconds(1),
                        /*seed=*/1);
  EXPECT_TRUE(
      in_time.NextDelay(absl::StatusCode::kUnavailable, kStart).has_value());
}

TEST(RetryScheduleTest, AnAttemptGetsItsTimeoutOrWhatTheCallHasLeft) {
  RetrySchedule schedule(Options(), kStart + absl::Seconds(10), /*seed=*/1);
  EXPECT_EQ(schedule.AttemptTimeout(kStart), absl::Seconds(5));
  EXPECT_EQ(schedule.AttemptTimeout(kStart + absl::Seconds(7)),
            absl::Seconds(3));
}

}  // namespace
}  // namespace shoal
