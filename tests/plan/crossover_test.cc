#include "plan/crossover.h"

#include <random>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "plan/prediction.h"
#include "tests/plan/plan_examples.h"

namespace shoal {
namespace {

double Rate(const ModeShape& mode, int hosts, double bits,
            const Calibration& c = ExampleCalibration()) {
  return Predict(mode, c, MeasuredJob(c), ExampleCluster(hosts, bits / 1e9),
                 hosts)
      .samples_per_second;
}

std::vector<const ModeShape*> AsyncAndRing() {
  return {FindModeShape("async"), FindModeShape("ring")};
}

std::vector<const ModeShape*> AllModes() {
  std::vector<const ModeShape*> modes;
  for (const ModeShape& mode : ModeShapes()) modes.push_back(&mode);
  return modes;
}

TEST(CrossoverTest, TheFasterModeChangesAtTheCrossover) {
  // Servers that are slow on fast networks too.
  Calibration c = ExampleCalibration();
  c.corrections = {{"async", 1.2}, {"ssp", 1.2}, {"sync", 1.2}};
  int seen = 0;
  for (const int hosts : {2, 4, 8, 16}) {
    for (const Crossover& found : CrossoversOf(
             AllModes(), c, MeasuredJob(c), ExampleCluster(hosts, 1), hosts)) {
      ++seen;
      const double before = found.bits_per_second / 1.02;
      const double after = found.bits_per_second * 1.02;
      EXPECT_LT(Rate(*found.to, hosts, before, c),
                Rate(*found.from, hosts, before, c) * (1 + kClearLead));
      EXPECT_GT(Rate(*found.to, hosts, after, c),
                Rate(*found.from, hosts, after, c) * (1 + kClearLead));
    }
  }
  EXPECT_GT(seen, 0);
}

// Also where two modes become the fastest within one step of the search.
TEST(CrossoverTest, TheNextModeIsTheFastestOneThere) {
  Calibration c = ExampleCalibration();
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> factor(1, 2);
  int seen = 0;
  for (int i = 0; i < 200; ++i) {
    c.corrections.clear();
    for (const ModeShape& mode : ModeShapes()) {
      c.corrections.push_back({mode.name, factor(random)});
    }
    const int hosts = 2 << i % 5;
    ClusterDescription cluster = ExampleCluster(hosts, 1);
    for (const Crossover& found :
         CrossoversOf(AllModes(), c, MeasuredJob(c), cluster, hosts)) {
      ++seen;
      cluster.bits_per_second = found.bits_per_second;
      EXPECT_EQ(FastestMode(AllModes(), c, MeasuredJob(c), cluster, hosts,
                            /*instead_of=*/found.from),
                found.to)
          << i;
    }
  }
  EXPECT_GT(seen, 0);
}

TEST(CrossoverTest, ItIsToldInWords) {
  EXPECT_EQ(
      CrossoverText({4, FindModeShape("async"), FindModeShape("ring"), 6e9}),
      "ring overtakes async above 6 Gbit/s at 4 hosts");
}

TEST(CrossoverTest, OneModeHasNone) {
  const Calibration c = ExampleCalibration();
  EXPECT_THAT(CrossoversOf({FindModeShape("async")}, c, MeasuredJob(c),
                           ExampleCluster(4, 1), 4),
              ::testing::IsEmpty());
}

TEST(CrossoverTest, ARingThatDoesNotFitIsNeverTheFastest) {
  Calibration c = ExampleCalibration();
  c.table_bytes = 100e9;
  ClusterDescription cluster = ExampleCluster(4, 1);
  cluster.memory_bytes = 64e9;
  for (const double gbit : {.2, 1.0, 10.0, 100.0}) {
    cluster.bits_per_second = gbit * 1e9;
    EXPECT_EQ(FastestMode(AsyncAndRing(), c, MeasuredJob(c), cluster, 4),
              FindModeShape("async"));
  }
}

TEST(CrossoverTest, TheBandwidthForAnEfficiencyIsTheLeast) {
  const Calibration c = ExampleCalibration();
  const ModeShape& async = *FindModeShape("async");
  const ClusterDescription cluster = ExampleCluster(4, 1);
  const auto bits = BitsForEfficiency(async, c, MeasuredJob(c), cluster, 4, .8)
                        .bits_per_second;
  ASSERT_TRUE(bits.has_value());
  const double one = Rate(async, 1, 1e9);
  EXPECT_GE(Rate(async, 4, *bits) / (4 * one), .8);
  EXPECT_LT(Rate(async, 4, *bits / 1.05) / (4 * one), .8);
  EXPECT_FALSE(BitsForEfficiency(async, c, MeasuredJob(c), cluster, 1000, .99)
                   .bits_per_second.has_value());
}

TEST(CrossoverTest, WhatASearchFindsOutsideTheMeasuredIsMarked) {
  Calibration c = ExampleCalibration();
  c.corrections = {{"ring", 1.02}};
  c.most_hosts = 4;
  const auto found = [&c] {
    return CrossoversOf({FindModeShape("sync"), FindModeShape("ring")}, c,
                        MeasuredJob(c), ExampleCluster(4, 1), 4);
  };
  const auto needed = [&c](double share = .8) {
    return BitsForEfficiency(*FindModeShape("async"), c, MeasuredJob(c),
                             ExampleCluster(4, 1), 4, share);
  };
  ASSERT_FALSE(found().empty());
  ASSERT_TRUE(needed().bits_per_second.has_value());
  // So is that nothing was found up to the largest bandwidth.
  ASSERT_FALSE(needed(10).bits_per_second.has_value());
  EXPECT_TRUE(needed(10).extrapolated);
  c.least_bits = kLeastBits;
  c.most_bits = kMostBits;
  for (const Crossover& one : found()) EXPECT_FALSE(one.extrapolated);
  EXPECT_FALSE(needed().extrapolated);
  EXPECT_FALSE(needed(10).extrapolated);
  c.least_bits = c.most_bits = 1.5 * *needed().bits_per_second;
  for (const Crossover& one : found()) EXPECT_TRUE(one.extrapolated);
  EXPECT_TRUE(needed().extrapolated);
}

}  // namespace
}  // namespace shoal
