#include "rpc/metered_parameter_service.h"

#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "tests/harness/simulated_executor.h"

namespace shoal {
namespace {

// Answers after 20 ms: pulls well, all else with an error.
class SlowService : public ParameterService {
 public:
  explicit SlowService(Executor* executor) : executor_(executor) {}

  void Pull(PullRequest, absl::Duration, Done<PullReply> done) override {
    Answer<PullReply>(PullReply(), std::move(done));
  }
  void Push(PushRequest, absl::Duration, Done<PushReply> done) override {
    Answer<PushReply>(absl::UnavailableError("no"), std::move(done));
  }
  void Stats(StatsRequest, absl::Duration, Done<StatsReply> done) override {
    Answer<StatsReply>(absl::UnavailableError("no"), std::move(done));
  }

 private:
  template <typename Reply>
  void Answer(absl::StatusOr<Reply> reply, Done<Reply> done) {
    executor_->PostAfter(absl::Milliseconds(20),
                         [reply, done = std::move(done)]() mutable {
                           std::move(done)(std::move(reply));
                         });
  }

  Executor* const executor_;
};

TEST(MeteredParameterServiceTest, CountsAndTimesWhatPassesThrough) {
  Simulator simulator;
  SimulatedExecutor executor(&simulator);
  SlowService slow(&executor);
  Telemetry telemetry;
  MeteredParameterService metered(&slow, &telemetry, {{"shard", "2"}},
                                  &executor);
  // The value of a metric, or a distribution's count.
  auto value = [&](const std::string& name, const std::string& method) {
    for (const MetricFamily& family : telemetry.Collect()) {
      if (family.name != name) continue;
      for (const MetricSample& sample : family.samples) {
        if (sample.labels[1].second != method) continue;
        double sum = sample.value;
        for (const uint64_t count : sample.distribution.counts) sum += count;
        return sum;
      }
    }
    return -1.0;
  };

  int good = 0;
  int bad = 0;
  for (int i = 0; i < 3; ++i) {
    metered.Pull({}, absl::Seconds(1),
                 [&](absl::StatusOr<PullReply> reply) { good += reply.ok(); });
  }
  metered.Push({}, absl::Seconds(1),
               [&](absl::StatusOr<PushReply> reply) { bad += !reply.ok(); });
  EXPECT_EQ(value("shoal_ps_requests_in_flight", "pull"), 3);
  simulator.RunUntilIdle();
  EXPECT_EQ(good, 3);
  EXPECT_EQ(bad, 1);
  EXPECT_EQ(value("shoal_ps_requests_in_flight", "pull"), 0);
  EXPECT_EQ(value("shoal_ps_requests_total", "pull"), 3);
  EXPECT_EQ(value("shoal_ps_requests_failed_total", "pull"), 0);
  EXPECT_EQ(value("shoal_ps_requests_total", "push"), 1);
  EXPECT_EQ(value("shoal_ps_requests_failed_total", "push"), 1);
  EXPECT_EQ(value("shoal_ps_request_seconds", "pull"), 3);
  EXPECT_EQ(value("shoal_ps_requests_total", "stats"), 0);
}

}  // namespace
}  // namespace shoal
