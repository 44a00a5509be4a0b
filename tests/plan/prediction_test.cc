#include "plan/prediction.h"

#include <cmath>

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
  // Workers and servers of hosts of one core share it, in all modes.
  for (const char* mode : {"async", "ssp", "sync", "ring", "hybrid"}) {
    const Calibration c = ExampleCalibration();
    ClusterDescription cluster = ExampleCluster(2, 100);
    cluster.cores = 1;
    EXPECT_EQ(
        Predict(*FindModeShape(mode), c, MeasuredJob(c), cluster, 2).step.limit,
        Limit::kHostCores)
        << mode;
  }
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
  ClusterDescription far = ExampleCluster(2, 5);
  far.latency_seconds = 5e-3;
  const ModeShape& async = *FindModeShape("async");
  EXPECT_TRUE(Predict(async, c, MeasuredJob(c), far, 2).extrapolated);
  EXPECT_FALSE(Predict(async, c, MeasuredJob(c), far, 1).extrapolated);
  PlannedJob job = MeasuredJob(c);
  job.batch_size = 4096;
  EXPECT_TRUE(Predict(*FindModeShape("async"), c, job, ExampleCluster(2, 5), 2)
                  .extrapolated);
  Calibration none = c;
  none.network_measured = false;
  EXPECT_TRUE(At("ring", 2, 5, none).extrapolated);
}

TEST(PredictionTest, EverythingThatDiffersFromTheMeasuredIsMarked) {
  const Calibration c = ExampleCalibration();
  const auto marked = [&c](const char* mode, auto change) {
    Calibration calibration = c;
    PlannedJob job = MeasuredJob(c);
    ClusterDescription cluster = ExampleCluster(2, 5);
    change(&calibration, &job, &cluster);
    return Predict(*FindModeShape(mode), calibration, job, cluster, 2)
        .extrapolated;
  };
  using C = Calibration*;
  using J = PlannedJob*;
  using L = ClusterDescription*;
  EXPECT_FALSE(marked("ssp", [](C, J, L) {}));
  EXPECT_TRUE(marked("ring", [](C, J, L cluster) { cluster->cores = 8; }));
  EXPECT_TRUE(marked("ring", [](C, J, L cluster) { cluster->cores = 2; }));
  EXPECT_TRUE(marked("ring", [](C, J job, L) { job->row_floats = 33; }));
  EXPECT_TRUE(marked("ring", [](C, J job, L) { job->dense_bytes *= 2; }));
  EXPECT_TRUE(marked("ring", [](C, J job, L) { job->sample_ratio = 1.5; }));
  EXPECT_TRUE(marked("ring", [](C, J job, L) { job->table_bytes *= 10; }));
  EXPECT_TRUE(marked("ring", [](C, J job, L) { job->workers_per_host = 2; }));
  // Settings matter to the modes that have them.
  EXPECT_TRUE(marked("ssp", [](C, J job, L) { job->ssp_bound = 5; }));
  EXPECT_FALSE(marked("async", [](C, J job, L) { job->ssp_bound = 5; }));
  EXPECT_TRUE(marked("async", [](C, J job, L) { job->pipeline_depth = 0; }));
  EXPECT_FALSE(marked("ring", [](C, J job, L) { job->pipeline_depth = 0; }));
  EXPECT_TRUE(marked("hybrid", [](C, J job, L) { job->bucket_bytes *= 2; }));
  EXPECT_FALSE(marked("sync", [](C, J job, L) { job->bucket_bytes *= 2; }));
  // Modes that have no cell, and cores that nobody knows.
  const auto rings = [](C calibration, J, L) { calibration->modes = {"ring"}; };
  EXPECT_TRUE(marked("async", rings));
  EXPECT_FALSE(marked("ring", rings));
  EXPECT_TRUE(marked("ring", [](C calibration, J, L) {
    calibration->least_cores = calibration->most_cores = 0;
  }));
}

// What the simulation does not have: streams that share links unevenly. Only
// traffic of servers over full links has them, and only between three hosts and
// more.
TEST(PredictionTest, UnevenStreamsMakeFullLinksOfServersSlower) {
  const auto seconds = [](const char* mode, int hosts, double gbit) {
    const Calibration c = ExampleCalibration();
    const PlannedJob job = MeasuredJob(c);
    const ModeShape& shape = *FindModeShape(mode);
    StepSetting even;
    even.cluster = ExampleCluster(hosts, gbit);
    even.cluster.bits_per_second *= .956;
    even.step_times = c.step_times;
    return Predict(shape, c, job, ExampleCluster(hosts, gbit), hosts)
               .step.step_seconds /
           PredictStep(shape, DemandOf(shape, c, job, hosts), even)
               .step_seconds;
  };
  EXPECT_NEAR(seconds("sync", 2, .1), 1, 1e-9);
  EXPECT_NEAR(seconds("ring", 8, .1), 1, 1e-9);
  EXPECT_NEAR(seconds("sync", 8, .1), 1 + .09 * std::log(7), .02);
  EXPECT_LT(seconds("sync", 8, 100), 1.01);
}

TEST(PredictionTest, SmallerBucketsOfARingAreMore) {
  const Calibration c = ExampleCalibration();
  PlannedJob job = MeasuredJob(c);
  const ModeShape& ring = *FindModeShape("ring");
  const int buckets = DemandOf(ring, c, job, 4).buckets;
  job.bucket_bytes /= 4;
  EXPECT_EQ(DemandOf(ring, c, job, 4).buckets,
            static_cast<int>(std::ceil(c.dense_bytes / (128 << 10))));
  EXPECT_LT(buckets, DemandOf(ring, c, job, 4).buckets);
  // As a file may have them.
  job.bucket_bytes = 1e-300;
  EXPECT_GT(DemandOf(ring, c, job, 4).buckets, 0);
}

TEST(PredictionTest, ACorrectionChangesItsModeAlone) {
  Calibration c = ExampleCalibration();
  const double async = At("async", 4, 1, c).samples_per_second;
  const double ring = At("ring", 4, 1, c).samples_per_second;
  c.corrections = {{"async", 1.25}};
  EXPECT_NEAR(At("async", 4, 1, c).samples_per_second, async / 1.25, 1e-6);
  EXPECT_EQ(At("ring", 4, 1, c).samples_per_second, ring);
  // One host is corrected by what was measured on one.
  const double one = At("async", 1, 1, c).samples_per_second;
  c.corrections = {{"async", 1.25, 2}};
  EXPECT_NEAR(At("async", 1, 1, c).samples_per_second, one / 2, 1e-6);
  EXPECT_NEAR(At("async", 4, 1, c).samples_per_second, async / 1.25, 1e-6);
}

// The corrections of two hosts must not plan more of eight than they have.
TEST(PredictionTest, NoCorrectionPlansMoreThanAResourceHas) {
  Calibration c = ExampleCalibration();
  for (const ModeShape& mode : ModeShapes()) {
    c.corrections.push_back({mode.name, .01, .01});
  }
  const PlannedJob job = MeasuredJob(c);
  for (const ModeShape& mode : ModeShapes()) {
    for (const double cores : {.5, 1.0, 4.0}) {
      for (const double gbit : {1.0, 100.0}) {
        ClusterDescription cluster = ExampleCluster(8, gbit);
        cluster.cores = cores;
        const StepDemand d = DemandOf(mode, c, job, 8);
        const double processor = d.compute + d.pull_worker + d.push_worker +
                                 d.apply_worker + d.reduce_core +
                                 d.gather_core + d.pull_server + d.push_server +
                                 d.apply_server;
        const Prediction p = Predict(mode, c, job, cluster, 8);
        EXPECT_LE(processor, 1.0001 * cores * p.step.step_seconds)
            << mode.name << ", " << cores << " cores";
        EXPECT_LE(8 * p.bytes_per_sample * job.batch_size,
                  gbit * 1e9 * p.step.step_seconds)
            << mode.name << ", " << gbit << " Gbit/s";
        EXPECT_LE(p.step.wait_seconds, p.step.step_seconds) << mode.name;
      }
    }
  }
}

}  // namespace
}  // namespace shoal
