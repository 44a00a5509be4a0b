#include "plan/step_demand.h"

#include "gtest/gtest.h"
#include "plan/mode_shape.h"
#include "tests/plan/plan_examples.h"

namespace shoal {
namespace {

StepDemand Demand(const char* mode, int hosts, const Calibration& c) {
  return DemandOf(*FindModeShape(mode), c, MeasuredJob(c), hosts);
}

// All bytes that a step of one worker sends.
double Sent(const StepDemand& d) {
  return d.served_bytes() + d.reduce_bytes + d.gather_bytes;
}

// Bytes a step and worker that the kernel counted, 2 workers
// (bench/results/bytes_amd_epyc_zen5.json), with the rows of that run.
TEST(StepDemandTest, BytesAreThoseThatWereMeasured) {
  const struct {
    const char* mode;
    double dense, floats, rows, batch, bytes;
  } runs[] = {
      {"async", 571202, 17, 8768.549, 1024, 5935798.97},
      {"async", 571202, 17, 24955.93, 4096, 8291971.81},
      {"sync", 571202, 17, 8734.56, 1024, 5923830.64},
      {"ring", 571202, 17, 8726.53, 1024, 2967375.69},
      {"ring", 571202, 17, 24787.04, 4096, 4202415.35},
      {"async", 360961, 33, 8733.34, 1024, 5354279.99},
      {"sync", 360961, 33, 24908.64, 4096, 9852988.14},
      {"ring", 360961, 33, 8750.89, 1024, 2673949.54},
  };
  for (const auto& run : runs) {
    Calibration c = ExampleCalibration();
    c.dense_bytes = 4 * run.dense;
    c.row_floats = run.floats;
    c.batch_size = run.batch;
    c.distinct_ids = {{run.batch, run.rows}};
    EXPECT_NEAR(Sent(Demand(run.mode, 2, c)) / run.bytes, 1, .02)
        << run.mode << " " << run.bytes;
  }
}

TEST(StepDemandTest, HybridReducesTheDensePartAndServesTheRows) {
  const Calibration c = ExampleCalibration();
  const StepDemand hybrid = Demand("hybrid", 4, c);
  EXPECT_DOUBLE_EQ(hybrid.reduce_bytes, 2 * 3 / 4.0 * c.dense_bytes);
  EXPECT_DOUBLE_EQ(hybrid.served_bytes(), 8750 * (16 + 8 * 17.0));
  EXPECT_LT(hybrid.gather_bytes, 1000);  // the confirmation
}

TEST(StepDemandTest, AStepHasNoMoreIdsThanTheTablesHaveRows) {
  Calibration c = ExampleCalibration();
  c.distinct_ids = {{1024, 4000}};
  PlannedJob job = MeasuredJob(c);
  const ModeShape& sync = *FindModeShape("sync");
  const double all = DemandOf(sync, c, job, 1000).apply_server;
  // 5,000 rows with as many slots as weights.
  job.table_bytes = 2 * 5000 * 4 * c.row_floats;
  const StepDemand few = DemandOf(sync, c, job, 1000);
  EXPECT_LT(few.apply_server, .7 * all);
  c.distinct_ids = {{1024, 4000}, {4096, 10000}, {8192, 10000}};
  EXPECT_DOUBLE_EQ(few.apply_server, DemandOf(sync, c, job, 1000).apply_server);
}

// A larger batch has fewer distinct ids a sample, each of which is computed
// once.
TEST(StepDemandTest, AModelIsComparedInItsOwnBatches) {
  Calibration c = ExampleCalibration();
  c.work = {3e6, 1e6, 1e5, 12};
  c.distinct_ids = {{1024, 10240}, {2048, 10240}};
  EXPECT_DOUBLE_EQ(SampleRatio(c, c.work, 1024), 1);
  EXPECT_DOUBLE_EQ(SampleRatio(c, c.work, 2048), 1.5 / 2);
  // The other form: all products, for each sample.
  const SampleWork other = {4e6, 1e6, 1e5, 4};
  EXPECT_DOUBLE_EQ(SampleRatio(c, other, 1024), 2);
  EXPECT_DOUBLE_EQ(SampleRatio(c, other, 2048), 2);
  EXPECT_EQ(SampleRatio(c, SampleWork(), 1024), 0);
  c.work = SampleWork();
  EXPECT_EQ(SampleRatio(c, other, 1024), 0);
}

// Rows of 17 and 33 floats: 94 and 120 ns in ps_bench.
TEST(StepDemandTest, LongerRowsCostMoreTime) {
  const Calibration c = ExampleCalibration();
  ASSERT_EQ(c.row_floats, 17);
  PlannedJob job = MeasuredJob(c);
  const ModeShape& ring = *FindModeShape("ring");
  const double measured = DemandOf(ring, c, job, 1).apply_worker;
  const double dense = c.costs.dense_byte * c.dense_bytes;
  job.row_floats = 33;
  const double longer = DemandOf(ring, c, job, 1).apply_worker;
  EXPECT_NEAR((longer - dense) / (measured - dense), 120 / 94.0, .02);
}

TEST(StepDemandTest, ServersAreCalledTwiceAStepEach) {
  Calibration c = ExampleCalibration();
  c.costs = UnitCosts();
  for (double UnitCosts::*const other :
       {&UnitCosts::sample, &UnitCosts::row, &UnitCosts::merged_row,
        &UnitCosts::dense_byte, &UnitCosts::worker_byte,
        &UnitCosts::server_byte, &UnitCosts::ring_byte}) {
    c.costs.*other = 0;
  }
  c.costs.worker_call = 1;
  c.costs.server_call = 1;
  const StepDemand d = Demand("async", 32, c);
  EXPECT_DOUBLE_EQ(d.pull_worker + d.push_worker, 64);
  EXPECT_DOUBLE_EQ(d.pull_server + d.push_server, 64);
  const StepDemand ring = Demand("ring", 32, c);
  EXPECT_EQ(ring.pull_worker + ring.pull_server, 0);
}

TEST(StepDemandTest, ARingAppliesTheUnionOfAllRowsOnEveryRank) {
  Calibration c = ExampleCalibration();
  for (double UnitCosts::*const other :
       {&UnitCosts::merged_row, &UnitCosts::dense_byte}) {
    c.costs.*other = 0;
  }
  c.costs.row = 1;
  EXPECT_NEAR(Demand("ring", 1, c).apply_worker, 8750, 1e-6);
  EXPECT_NEAR(Demand("ring", 4, c).apply_worker, 24900, 1e-6);
  EXPECT_NEAR(Demand("ring", 16, c).apply_worker, 66000, 1e-6);
  // sync applies the union once, over all servers; async each push.
  EXPECT_NEAR(Demand("sync", 4, c).apply_server, 24900 / 4.0, 1e-6);
  const StepDemand async = Demand("async", 4, c);
  EXPECT_NEAR(async.push_server, 8750, 1);
  EXPECT_EQ(async.apply_server, 0);
}

TEST(StepDemandTest, OneRankReducesNothing) {
  const StepDemand d = Demand("ring", 1, ExampleCalibration());
  EXPECT_EQ(d.reduce_bytes, 0);
  EXPECT_EQ(d.gather_bytes, 0);
  EXPECT_EQ(d.reduce_hops, 0);
}

}  // namespace
}  // namespace shoal
