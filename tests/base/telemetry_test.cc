#include "base/telemetry.h"

#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

using ::testing::ElementsAre;

TEST(TelemetryTest, CollectsWhatWasAddedInTheOrderOfItsNames) {
  Telemetry telemetry;
  Counter* pulls =
      telemetry.AddCounter("requests_total", "Requests.", {{"kind", "pull"}});
  Gauge* rows = telemetry.AddGauge("rows", "Rows.");
  Counter* pushes =
      telemetry.AddCounter("requests_total", "ignored", {{"kind", "push"}});
  pulls->Add();
  pulls->Add(2);
  pushes->Set(7);
  rows->Set(5);
  rows->Add(-1.5);

  const std::vector<MetricFamily> families = telemetry.Collect();
  ASSERT_EQ(families.size(), 2u);
  EXPECT_EQ(families[0].name, "requests_total");
  EXPECT_EQ(families[0].help, "Requests.");
  EXPECT_EQ(families[0].kind, MetricKind::kCounter);
  ASSERT_EQ(families[0].samples.size(), 2u);
  EXPECT_EQ(families[0].samples[0].value, 3);
  EXPECT_EQ(families[0].samples[1].value, 7);
  EXPECT_EQ(families[0].samples[1].labels, (MetricLabels{{"kind", "push"}}));
  EXPECT_EQ(families[1].name, "rows");
  EXPECT_EQ(families[1].samples[0].value, 3.5);
}

TEST(TelemetryTest, ADistributionCountsAtOrBelowEachBound) {
  Telemetry telemetry;
  Distribution* seconds =
      telemetry.AddDistribution("seconds", "Seconds.", {1, 2});
  for (const double value : {0.5, 1.0, 1.5, 2.0, 9.0}) seconds->Observe(value);
  const Distribution::Snapshot read =
      telemetry.Collect()[0].samples[0].distribution;
  EXPECT_THAT(read.counts, ElementsAre(2, 2, 1));
  EXPECT_EQ(read.sum, 14);
}

TEST(TelemetryTest, ADistributionTakesAHistogramOver) {
  Histogram histogram;
  histogram.Add(0, 4);
  histogram.Add(3);
  histogram.Add(100, 2);
  Distribution staleness({0, 2, 4});
  staleness.Observe(1);  // replaced
  staleness.Set(histogram);
  EXPECT_THAT(staleness.Read().counts, ElementsAre(4, 0, 1, 2));
  EXPECT_EQ(staleness.Read().sum, 203);
}

TEST(TelemetryTest, AHookRunsBeforeMetricsAreReadButNotForEveryReader) {
  Telemetry telemetry;
  Gauge* rows = telemetry.AddGauge("rows", "Rows.");
  int runs = 0;
  telemetry.OnCollect([&] { rows->Set(++runs); });
  EXPECT_EQ(telemetry.Collect()[0].samples[0].value, 1);
  // 10,000 readings take far less than as many refresh intervals.
  for (int i = 0; i < 10000; ++i) telemetry.Collect();
  EXPECT_LT(runs, 10000);
  telemetry.OnCollect([] {});
  const int before = runs;
  telemetry.Collect();
  EXPECT_EQ(runs, before + 1);
}

TEST(TelemetryTest, UpdatesFromManyThreadsAllCountWhileOthersRead) {
  Telemetry telemetry;
  Counter* counter = telemetry.AddCounter("sum_total", "Sum.");
  Distribution* distribution =
      telemetry.AddDistribution("values", "Values.", {1});
  constexpr int kThreads = 4;
  constexpr int kEach = 10000;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < kEach; ++n) {
        counter->Add();
        distribution->Observe(n % 2 == 0 ? 0.5 : 2);
      }
    });
  }
  double last = 0;
  for (int i = 0; i < 100; ++i) {
    const double now = telemetry.Collect()[0].samples[0].value;
    EXPECT_GE(now, last);
    last = now;
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(counter->value(), kThreads * kEach);
  EXPECT_THAT(distribution->Read().counts,
              ElementsAre(kThreads * kEach / 2, kThreads * kEach / 2));
}

}  // namespace
}  // namespace shoal
