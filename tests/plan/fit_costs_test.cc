#include "plan/fit_costs.h"

#include <algorithm>
#include <cmath>
#include <random>
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
  truth.costs.worker_call = 70e-6;
  truth.costs.server_call = 90e-6;
  return truth;
}

// What a calibration says of its own job, in samples/s.
double RateOf(const Calibration& calibration, const ModeShape& mode, int hosts,
              double gbit) {
  return Predict(mode, calibration, MeasuredJob(calibration),
                 ExampleCluster(hosts, gbit), hosts)
      .samples_per_second;
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
        EXPECT_NEAR(RateOf(*fitted, mode, hosts, gbit) /
                        RateOf(truth, mode, hosts, gbit),
                    1, .1)
            << mode.name << " " << hosts << " " << gbit;
      }
    }
  }
}

// Runs differ, each for itself. What is planned for more hosts must differ by
// little more than they do.
TEST(FitCostsTest, NoiseOfTheCellsDoesNotGrowWithTheHosts) {
  constexpr double kNoise = .1;
  const Calibration truth = Truth();
  std::vector<double> errors;
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> noise(1 - kNoise, 1 + kNoise);
    std::vector<MeasuredCell> cells = CellsOf(truth, 1);
    for (MeasuredCell& cell : cells) {
      const double slow = noise(random);
      cell.samples_per_second /= slow;
      cell.worker_cpu *= slow;
      cell.server_cpu *= noise(random);
    }
    const auto fitted = FitCosts(cells, ExampleCalibration());
    ASSERT_TRUE(fitted.ok()) << fitted.status();
    for (const ModeShape& mode : ModeShapes()) {
      for (const int hosts : {4, 8, 32}) {
        for (const double gbit : {1, 10}) {
          const double error = RateOf(*fitted, mode, hosts, gbit) /
                                   RateOf(truth, mode, hosts, gbit) -
                               1;
          EXPECT_LT(std::abs(error), 2.5 * kNoise)
              << "seed " << seed << ", " << mode.name << " on " << hosts
              << " hosts at " << gbit << " Gbit/s";
          errors.push_back(std::abs(error));
        }
      }
    }
  }
  std::sort(errors.begin(), errors.end());
  EXPECT_LT(errors[errors.size() / 2], kNoise / 2);
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
  EXPECT_NEAR(fitted->CorrectionOf("async", 2), 1.3, .05);
  EXPECT_EQ(fitted->CorrectionOf("ssp", 2), fitted->CorrectionOf("async", 2));
  EXPECT_NEAR(fitted->CorrectionOf("ring", 2), 1, .05);
  EXPECT_GT(fitted->CorrectionOf("hybrid", 2), fitted->CorrectionOf("ring", 2));
  EXPECT_LT(fitted->CorrectionOf("hybrid", 2),
            fitted->CorrectionOf("async", 2));
}

// As where the cells of two hosts are grey.
TEST(FitCostsTest, AModeThatWasMeasuredOnOneHostAloneIsExtrapolatedOnTwo) {
  std::vector<MeasuredCell> cells = CellsOf(Truth(), 1);
  const auto is_extrapolated = [&](const char* mode, int hosts) {
    const auto fitted = FitCosts(cells, ExampleCalibration());
    EXPECT_TRUE(fitted.ok()) << fitted.status();
    return Predict(*FindModeShape(mode), *fitted, MeasuredJob(*fitted),
                   ExampleCluster(hosts, 1), hosts)
        .extrapolated;
  };
  EXPECT_FALSE(is_extrapolated("ring", 2));
  std::erase_if(cells, [](const MeasuredCell& cell) {
    return cell.mode == "ring" && cell.hosts > 1;
  });
  EXPECT_FALSE(is_extrapolated("ring", 1));
  EXPECT_TRUE(is_extrapolated("ring", 2));
  EXPECT_FALSE(is_extrapolated("async", 2));
}

// What a job on loopback takes is no measure of a network: there messages take
// processor time, which is fitted, and no link.
TEST(FitCostsTest, SeveralHostsWithoutALimitedLinkGiveNoCorrection) {
  std::vector<MeasuredCell> cells = CellsOf(Truth(), 1.1);
  for (MeasuredCell& cell : cells) {
    cell.bits_per_second = 0;
    if (cell.hosts > 1) cell.samples_per_second /= 3;
  }
  const auto fitted = FitCosts(cells, ExampleCalibration());
  ASSERT_TRUE(fitted.ok()) << fitted.status();
  EXPECT_FALSE(fitted->network_measured);
  EXPECT_NEAR(fitted->costs.sample / Truth().costs.sample, 1, .03);
  // What cells of one host tell is true of several, too.
  for (const ModeCorrection& correction : fitted->corrections) {
    EXPECT_NEAR(correction.alone, 1.1, .05) << correction.mode;
    EXPECT_EQ(correction.factor, correction.alone) << correction.mode;
  }
}

TEST(FitCostsTest, OneHostHasACorrectionOfItsOwn) {
  std::vector<MeasuredCell> cells = CellsOf(Truth(), 1.2);
  for (MeasuredCell& cell : cells) {
    if (cell.hosts == 1) cell.samples_per_second *= 1.2 / .9;
  }
  const auto fitted = FitCosts(cells, ExampleCalibration());
  ASSERT_TRUE(fitted.ok()) << fitted.status();
  for (const ModeShape& mode : ModeShapes()) {
    EXPECT_NEAR(fitted->CorrectionOf(mode.name, 1), .9, .05) << mode.name;
    EXPECT_NEAR(fitted->CorrectionOf(mode.name, 2), 1.2, .05) << mode.name;
    EXPECT_NEAR(fitted->CorrectionOf(mode.name, 8), 1.2, .05) << mode.name;
  }
  std::erase_if(cells,
                [](const MeasuredCell& cell) { return cell.hosts == 1; });
  const auto without = FitCosts(cells, ExampleCalibration());
  ASSERT_TRUE(without.ok()) << without.status();
  EXPECT_EQ(without->CorrectionOf("ring", 1), without->CorrectionOf("ring", 2));
}

TEST(FitCostsTest, CellsWhoseCoresAreNotKnownGiveNoCorrection) {
  std::vector<MeasuredCell> cells = CellsOf(Truth(), 1.5);
  for (MeasuredCell& cell : cells) cell.cores = 0;
  const auto fitted = FitCosts(cells, ExampleCalibration());
  ASSERT_TRUE(fitted.ok()) << fitted.status();
  EXPECT_TRUE(fitted->corrections.empty());
  EXPECT_EQ(fitted->most_cores, 0);
}

// The other cells of the same comparison still correct their modes.
TEST(FitCostsTest, OneCellWithoutALinkDoesNotHideTheOthers) {
  std::vector<MeasuredCell> cells = CellsOf(Truth(), 1.2);
  MeasuredCell loopback = cells.front();
  loopback.hosts = 4;
  loopback.bits_per_second = 0;
  loopback.samples_per_second /= 10;
  cells.push_back(loopback);
  const auto fitted = FitCosts(cells, ExampleCalibration());
  ASSERT_TRUE(fitted.ok()) << fitted.status();
  EXPECT_NEAR(fitted->CorrectionOf(loopback.mode, 2), 1.2, .05);
}

// Short batches at the ends of pieces cost calls and dense bytes as full ones
// do, for fewer samples.
// In a larger batch ids repeat more, so a sample costs less.
TEST(FitCostsTest, ASampleOfALargerBatchMayCostLess) {
  Calibration truth = Truth();
  truth.work = {.plain = 4e6, .per_sample = 1e6, .per_id = 2e5, .most_ids = 20};
  const PlannedJob large = MeasuredJob(truth, 4 * truth.batch_size);
  ASSERT_LT(large.sample_ratio, .9);
  std::vector<MeasuredCell> cells = CellsOf(truth, 1);
  for (MeasuredCell cell : CellsOf(truth, 1)) {
    const ModeShape& mode = *FindModeShape(cell.mode);
    const StepDemand d = DemandOf(mode, truth, large, cell.hosts);
    cell.batch_size = large.batch_size;
    cell.worker_cpu = (d.compute + d.pull_worker + d.push_worker +
                       d.apply_worker + d.reduce_core + d.gather_core) /
                      large.batch_size;
    cell.server_cpu =
        (d.pull_server + d.push_server + d.apply_server) / large.batch_size;
    cell.samples_per_second =
        Predict(mode, truth, large,
                ExampleCluster(cell.hosts, cell.bits_per_second / 1e9),
                cell.hosts)
            .samples_per_second;
    cells.push_back(cell);
  }
  Calibration known = ExampleCalibration();
  known.work = truth.work;
  const auto fitted = FitCosts(cells, known);
  ASSERT_TRUE(fitted.ok()) << fitted.status();
  EXPECT_NEAR(fitted->costs.sample / truth.costs.sample, 1, .03);
  // Both batches were measured, so neither is extrapolated.
  const ModeShape& async = *FindModeShape("async");
  for (const PlannedJob& job : {MeasuredJob(*fitted), large}) {
    const Prediction p = Predict(async, *fitted, job, ExampleCluster(2, 10), 2);
    EXPECT_FALSE(p.extrapolated) << job.batch_size;
    EXPECT_NEAR(p.samples_per_second /
                    Predict(async, truth, job, ExampleCluster(2, 10), 2)
                        .samples_per_second,
                1, .03)
        << job.batch_size;
  }
}

TEST(FitCostsTest, StepsHaveTheRowsOfAMeanBatch) {
  Calibration truth = Truth();
  truth.batch_size = 800;
  truth.costs.sample = 2e-6;
  std::vector<MeasuredCell> cells = CellsOf(truth, 1);
  for (MeasuredCell& cell : cells) {
    cell.batch_size = 1024;
    cell.mean_batch = 800;
  }
  Calibration known = truth;
  known.batch_size = 1024;
  known.costs = UnitCosts();
  const auto fitted = FitCosts(cells, known);
  ASSERT_TRUE(fitted.ok()) << fitted.status();
  for (const ModeCorrection& correction : fitted->corrections) {
    EXPECT_NEAR(correction.factor, 1, .03) << correction.mode;
  }
  // What counts as measured is the batch that was asked for.
  EXPECT_EQ(fitted->most_batch, 1024);
  for (MeasuredCell& cell : cells) cell.mean_batch = 0;
  const auto wrong = FitCosts(cells, known);
  ASSERT_TRUE(wrong.ok()) << wrong.status();
  for (const ModeCorrection& correction : wrong->corrections) {
    EXPECT_GT(correction.factor, 1.06) << correction.mode;
  }
}

TEST(FitCostsTest, ModesAndCoresOfTheCellsAreWhatWasMeasured) {
  std::vector<MeasuredCell> cells = CellsOf(Truth(), 1);
  std::erase_if(cells,
                [](const MeasuredCell& cell) { return cell.mode == "sync"; });
  cells.front().cores = 2;
  const auto fitted = FitCosts(cells, ExampleCalibration());
  ASSERT_TRUE(fitted.ok()) << fitted.status();
  EXPECT_THAT(fitted->modes, ::testing::UnorderedElementsAre(
                                 "async", "ssp", "ring", "hybrid"));
  EXPECT_EQ(fitted->least_cores, 2);
  EXPECT_EQ(fitted->most_cores, 4);
}

TEST(FitCostsTest, ACostOfWhichNoCellSaysAnythingKeepsItsDefault) {
  Calibration truth = Truth();
  std::vector<MeasuredCell> cells = CellsOf(truth, 1);
  std::erase_if(cells, [](const MeasuredCell& cell) {
    return cell.mode != "ring" || cell.hosts != 1;
  });
  const Calibration known = ExampleCalibration();
  const auto fitted = FitCosts(cells, known);
  ASSERT_TRUE(fitted.ok());
  EXPECT_NEAR(fitted->costs.server_call, known.costs.server_call, 1e-9);
  EXPECT_NEAR(fitted->costs.worker_byte, known.costs.worker_byte, 1e-15);
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
