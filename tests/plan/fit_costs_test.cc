#include "plan/fit_costs.h"

#include <cmath>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "plan/mode_shape.h"
#include "plan/prediction.h"
#include "plan/step_demand.h"
#include "tests/plan/plan_examples.h"

namespace shoal {
namespace {

// Cells of 1 and 2 hosts as a cluster with these true costs would give them.
// `slower`: how much longer a step takes than the formulas say.
std::vector<MeasuredCell> CellsOf(const Calibration& truth, double slower) {
  std::vector<MeasuredCell> cells;
  for (const ModeShape& mode : ModeShapes()) {
    for (const int hosts : {1, 2}) {
      for (const double gbit : {1.0, 10.0}) {
        const StepDemand d = DemandOf(mode, truth, MeasuredJob(truth), hosts);
        MeasuredCell cell;
        cell.mode = mode.name;
        cell.hosts = hosts;
        cell.batch_size = truth.batch_size;
        cell.cores = 4;
        cell.bits_per_second = gbit * 1e9;
        cell.worker_cpu = (d.compute + d.pull_worker + d.push_worker +
                           d.apply_worker + d.reduce_core + d.gather_core) /
                          truth.batch_size;
        cell.server_cpu =
            (d.pull_server + d.push_server + d.apply_server) / truth.batch_size;
        cell.samples_per_second = Predict(mode, truth, MeasuredJob(truth),
                                          ExampleCluster(hosts, gbit), hosts)
                                      .samples_per_second /
                                  slower;
        cells.push_back(cell);
      }
    }
  }
  return cells;
}

Calibration Truth() {
  Calibration truth = ExampleCalibration();
  truth.costs.sample = 9e-6;
  truth.costs.worker_byte = .7e-9;
  truth.costs.server_byte = .5e-9;
  truth.costs.ring_byte = .5e-9;
  truth.costs.server_call = 90e-6;
  return truth;
}

TEST(FitCostsTest, CellsOfOneAndTwoHostsPredictThirtyTwo) {
  const Calibration truth = Truth();
  const auto fitted = FitCosts(CellsOf(truth, 1), ExampleCalibration());
  ASSERT_TRUE(fitted.ok()) << fitted.status();
  EXPECT_NEAR(fitted->costs.sample / truth.costs.sample, 1, .03);
  EXPECT_EQ(fitted->most_hosts, 2);
  EXPECT_EQ(fitted->least_bits, 1e9);
  EXPECT_TRUE(fitted->network_measured);
  for (const ModeShape& mode : ModeShapes()) {
    for (const int hosts : {2, 8, 32}) {
      for (const double gbit : {1, 10}) {
        const auto rate = [&](const Calibration& c) {
          return Predict(mode, c, MeasuredJob(c), ExampleCluster(hosts, gbit),
                         hosts)
              .samples_per_second;
        };
        EXPECT_NEAR(rate(*fitted) / rate(truth), 1, .1)
            << mode.name << " " << hosts << " " << gbit;
      }
    }
  }
}

TEST(FitCostsTest, WhatTheFormulasDoNotKnowBecomesACorrection) {
  const auto fitted = FitCosts(CellsOf(Truth(), 1.2), ExampleCalibration());
  ASSERT_TRUE(fitted.ok()) << fitted.status();
  ASSERT_EQ(fitted->corrections.size(), ModeShapes().size());
  for (const ModeCorrection& correction : fitted->corrections) {
    EXPECT_NEAR(correction.factor, 1.2, .05) << correction.mode;
  }
}

TEST(FitCostsTest, AModeThatWasNotMeasuredIsCorrectedLikeItsLike) {
  std::vector<MeasuredCell> cells = CellsOf(Truth(), 1);
  std::erase_if(cells, [](const MeasuredCell& cell) {
    return cell.mode == "ssp" || cell.mode == "hybrid";
  });
  for (MeasuredCell& cell : cells) {
    if (cell.mode == "async") cell.samples_per_second /= 1.3;
  }
  const auto fitted = FitCosts(cells, ExampleCalibration());
  ASSERT_TRUE(fitted.ok()) << fitted.status();
  EXPECT_NEAR(fitted->CorrectionOf("async"), 1.3, .05);
  EXPECT_EQ(fitted->CorrectionOf("ssp"), fitted->CorrectionOf("async"));
  EXPECT_NEAR(fitted->CorrectionOf("ring"), 1, .05);
  EXPECT_GT(fitted->CorrectionOf("hybrid"), fitted->CorrectionOf("ring"));
  EXPECT_LT(fitted->CorrectionOf("hybrid"), fitted->CorrectionOf("async"));
}

TEST(FitCostsTest, ACostOfWhichNoCellSaysAnythingKeepsItsDefault) {
  Calibration truth = Truth();
  std::vector<MeasuredCell> cells = CellsOf(truth, 1);
  std::erase_if(cells, [](const MeasuredCell& cell) {
    return cell.mode != "ring" || cell.hosts != 1;
  });
  const auto fitted = FitCosts(cells, ExampleCalibration());
  ASSERT_TRUE(fitted.ok());
  EXPECT_NEAR(fitted->costs.server_call, UnitCosts().server_call, 1e-9);
  EXPECT_NEAR(fitted->costs.worker_byte, UnitCosts().worker_byte, 1e-15);
  EXPECT_FALSE(fitted->network_measured);
  EXPECT_EQ(fitted->most_hosts, 1);
}

TEST(FitCostsTest, CellsWithoutProcessorTimesAreRefused) {
  MeasuredCell cell;
  cell.mode = "async";
  cell.batch_size = 1024;
  EXPECT_THAT(
      std::string(FitCosts({cell}, ExampleCalibration()).status().message()),
      ::testing::HasSubstr("replay"));
  cell.mode = "other";
  EXPECT_THAT(
      std::string(FitCosts({cell}, ExampleCalibration()).status().message()),
      ::testing::HasSubstr("'other'"));
}

}  // namespace
}  // namespace shoal
