#include "base/backoff.h"

#include <set>

#include "absl/time/time.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

TEST(Backoff, IsAPureFunctionOfAttemptAndSeed) {
  const BackoffOptions options;
  for (int attempt = 0; attempt < 10; ++attempt) {
    EXPECT_EQ(BackoffDelay(options, attempt, 5),
              BackoffDelay(options, attempt, 5));
  }
}

TEST(Backoff, DoublesUpToTheMaximum) {
  BackoffOptions options;
  options.jitter = 0;
  EXPECT_EQ(BackoffDelay(options, 0, 1), absl::Milliseconds(20));
  EXPECT_EQ(BackoffDelay(options, 1, 1), absl::Milliseconds(40));
  EXPECT_EQ(BackoffDelay(options, 5, 1), absl::Milliseconds(640));
  EXPECT_EQ(BackoffDelay(options, 6, 1), absl::Seconds(1));
  EXPECT_EQ(BackoffDelay(options, 1'000'000'000, 1), absl::Seconds(1));
  EXPECT_EQ(BackoffDelay(options, -1, 1), absl::Milliseconds(20));
}

TEST(Backoff, JitterShortensByAtMostItsShareAndTellsCallersApart) {
  const BackoffOptions options;
  std::set<absl::Duration> delays;
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    const absl::Duration delay = BackoffDelay(options, 30, seed);
    EXPECT_LE(delay, absl::Seconds(1));
    EXPECT_GE(delay, absl::Milliseconds(700));
    delays.insert(delay);
  }
  EXPECT_GT(delays.size(), 990u);
  EXPECT_LT(*delays.begin(), absl::Milliseconds(710));
  EXPECT_GT(*delays.rbegin(), absl::Milliseconds(990));
}

}  // namespace
}  // namespace shoal
