#include "plan/prediction.h"

#include "gtest/gtest.h"
#include "tests/plan/plan_examples.h"

namespace shoal {
namespace {

Prediction At(const char* mode, int hosts, double gbit,
              const Calibration& c = ExampleCalibration()) {
  return Predict(*FindModeShape(mode), c, MeasuredJob(c),
                 ExampleCluster(hosts, gbit), hosts);
}

TEST(PredictionTest, EfficiencyIsOverAsManyTimesOneHost) {
  for (const ModeShape& mode : ModeShapes()) {
    const double one = At(mode.name, 1, 10).samples_per_second;
    const Prediction p = At(mode.name, 8, 10);
    EXPECT_NEAR(p.efficiency, p.samples_per_second / (8 * one), 1e-9);
    EXPECT_NEAR(At(mode.name, 1, 10).efficiency, 1, 1e-9);
  }
}

TEST(PredictionTest, BytesAreThoseThatLeaveAHost) {
  const Calibration c = ExampleCalibration();
  EXPECT_EQ(At("async", 1, 1).bytes_per_sample, 0);
  EXPECT_NEAR(At("async", 4, 1).bytes_per_sample,
              .75 * (2 * c.dense_bytes + 8750 * (16 + 8 * 17.0)) / 1024, 1);
  EXPECT_NEAR(At("ring", 2, 1).bytes_per_sample,
              (c.dense_bytes + 8750 * (8 + 4 * 17.0)) / 1024, 1);
}

TEST(PredictionTest, TheSlowestResourceIsNamed) {
  EXPECT_EQ(At("async", 8, .5).step.limit, Limit::kLink);
  EXPECT_EQ(At("async", 2, 100).step.limit, Limit::kWorkerCore);
  EXPECT_EQ(At("async", 1000, 400).step.limit, Limit::kServerCores);
}

TEST(PredictionTest, ARingIsRefusedWhereTablesDoNotFit) {
  Calibration c = ExampleCalibration();
  c.table_bytes = 100e9;
  ClusterDescription cluster = ExampleCluster(8, 10);
  cluster.memory_bytes = 64e9;
  const PlannedJob job = MeasuredJob(c);
  EXPECT_FALSE(Predict(*FindModeShape("ring"), c, job, cluster, 8).fits);
  EXPECT_TRUE(Predict(*FindModeShape("async"), c, job, cluster, 8).fits);
  EXPECT_TRUE(Predict(*FindModeShape("hybrid"), c, job, cluster, 8).fits);
  EXPECT_FALSE(Predict(*FindModeShape("async"), c, job, cluster, 1).fits);
  cluster.memory_bytes = 0;  // not known
  EXPECT_TRUE(Predict(*FindModeShape("ring"), c, job, cluster, 8).fits);
}

TEST(PredictionTest, WhatLiesOutsideTheMeasuredIsMarked) {
  const Calibration c = ExampleCalibration();  // 1 and 2 hosts, 1 to 10 Gbit/s
  EXPECT_FALSE(At("async", 2, 5).extrapolated);
  EXPECT_TRUE(At("async", 4, 5).extrapolated);
  EXPECT_TRUE(At("async", 2, 25).extrapolated);
  EXPECT_FALSE(At("async", 1, 25).extrapolated);  // one host needs no network
  PlannedJob job = MeasuredJob(c);
  job.batch_size = 4096;
  EXPECT_TRUE(Predict(*FindModeShape("async"), c, job, ExampleCluster(2, 5), 2)
                  .extrapolated);
  Calibration none = c;
  none.network_measured = false;
  EXPECT_TRUE(At("ring", 2, 5, none).extrapolated);
}

TEST(PredictionTest, ACorrectionChangesItsModeAlone) {
  Calibration c = ExampleCalibration();
  const double async = At("async", 4, 1, c).samples_per_second;
  const double ring = At("ring", 4, 1, c).samples_per_second;
  c.corrections = {{"async", 1.25}};
  EXPECT_NEAR(At("async", 4, 1, c).samples_per_second, async / 1.25, 1e-6);
  EXPECT_EQ(At("ring", 4, 1, c).samples_per_second, ring);
}

}  // namespace
}  // namespace shoal
