#include "bench/calibrate/comparison_calibration.h"

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "bench/compare/comparison_json.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "plan/mode_shape.h"
#include "plan/prediction.h"

namespace shoal {
namespace {

using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

// The job of the cells: 8,750 distinct ids in a batch of 1,024 rows.
constexpr double kDense = 2'284'804;
constexpr double kRowBytes = 68;
constexpr double kIds = 8750;

// Bytes a sample between a worker and servers, if a batch has `rows` rows.
RoleBytes ServedBytes(double rows, double ids) {
  RoleBytes bytes;
  bytes.worker_sent = (kDense + (16 + kRowBytes) * ids) / rows;
  bytes.worker_received = (kDense + kRowBytes * ids) / rows;
  bytes.ps_sent = bytes.worker_received;
  bytes.ps_received = bytes.worker_sent;
  return bytes;
}

CellRun RunOf(const std::string& mode, double rows) {
  CellRun run;
  run.ok = true;
  run.seconds = 25;
  run.samples_per_second = 20e3;
  const bool ring = mode == "ring";
  run.cpu_seconds_per_sample = RoleFigures{17e-6, ring ? 0 : 4e-6};
  run.bytes_per_sample =
      ring ? RoleBytes{3000, 3000, 0, 0} : ServedBytes(rows, kIds);
  run.step_seconds = RunSteps{400, .05, .005, .045, .05, .056, .07, .09};
  run.peak_rss_bytes = RoleFigures{3e8, 2e8};
  return run;
}

Cell CellOf(const std::string& mode, int hosts, double rows = 1024) {
  Cell cell;
  cell.name = absl::StrCat("A_", mode, "_h", hosts);
  cell.model = "A";
  cell.mode = mode;
  cell.hosts = hosts;
  cell.global_batch = 1024 * hosts;
  cell.network = "1gbit";
  cell.bits_per_second = 1e9;
  cell.cores_per_host = .5;
  cell.ssp_bound = 2;
  cell.runs = {RunOf(mode, rows)};
  cell.runs[0].samples_per_second = 20e3 * hosts;
  return cell;
}

Comparison Compared(std::vector<Cell> cells) {
  Comparison all;
  all.cpu = "a processor";
  all.started = "2026-03-01";
  all.models["A"] = {{},
                     static_cast<uint64_t>(kDense),
                     static_cast<uint64_t>(kRowBytes),
                     3.42e6,
                     204'000'000,
                     {3.42e6, 2.4e6, 61440, 12}};
  all.cells = std::move(cells);
  return all;
}

Comparison Whole() {
  std::vector<Cell> cells;
  for (const char* const mode : {"async", "ssp", "sync", "ring", "hybrid"}) {
    for (const int hosts : {1, 2}) cells.push_back(CellOf(mode, hosts));
  }
  return Compared(cells);
}

std::string WhyNot(const Comparison& comparison,
                   const CalibrationChoice& choice = {}) {
  return std::string(CalibrationOf(comparison, choice).status().message());
}

TEST(ComparisonCalibrationTest, TheJobAndWhatWasMeasuredAreThoseOfTheCells) {
  const auto c = CalibrationOf(Whole(), {.model = "A"});
  ASSERT_TRUE(c.ok()) << c.status();
  EXPECT_EQ(c->cpu, "a processor");
  EXPECT_EQ(c->batch_size, 1024);
  EXPECT_EQ(c->dense_bytes, kDense);
  EXPECT_EQ(c->row_floats, 17);
  EXPECT_EQ(c->work.per_sample, 2.4e6);
  EXPECT_EQ(c->work.per_id, 61440);
  EXPECT_EQ(c->work.plain, 3.42e6);
  EXPECT_EQ(c->work.most_ids, 12);
  EXPECT_EQ(c->table_bytes, 204e6);
  EXPECT_EQ(c->most_hosts, 2);
  EXPECT_EQ(c->least_cores, .5);
  EXPECT_EQ(c->most_cores, .5);
  EXPECT_EQ(c->most_bits, 1e9);
  EXPECT_EQ(c->ssp_bound, 2);
  EXPECT_EQ(c->pipeline_depth, 1);
  EXPECT_THAT(c->modes, UnorderedElementsAre("async", "ssp", "sync", "ring",
                                             "hybrid"));
  EXPECT_THAT(c->source, HasSubstr("10 cells of 1 and 2 hosts"));
  ASSERT_EQ(c->distinct_ids.size(), 1u);
  EXPECT_NEAR(c->distinct_ids[0].samples, 1024, 1e-6);
  EXPECT_NEAR(c->distinct_ids[0].ids, kIds, 1e-6);
  EXPECT_NEAR(c->step_times.p90 / c->step_times.p10, .056 / .045, 1e-9);
  EXPECT_FALSE(c->corrections.empty());
}

TEST(ComparisonCalibrationTest, TheMediansOfRunsCount) {
  Comparison disturbed = Whole();
  for (Cell& cell : disturbed.cells) {
    cell.runs.resize(3, cell.runs[0]);
    cell.runs[1].samples_per_second = *cell.runs[0].samples_per_second / 3;
    cell.runs[1].cpu_seconds_per_sample->worker *= 3;
    cell.runs[1].cpu_seconds_per_sample->ps *= 3;
    cell.runs[1].peak_rss_bytes->worker *= 3;
  }
  const auto quiet = CalibrationOf(Whole(), {});
  const auto found = CalibrationOf(disturbed, {});
  ASSERT_TRUE(quiet.ok()) << quiet.status();
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_DOUBLE_EQ(found->costs.sample, quiet->costs.sample);
  EXPECT_DOUBLE_EQ(found->costs.server_call, quiet->costs.server_call);
  EXPECT_DOUBLE_EQ(found->worker_memory, quiet->worker_memory);
  EXPECT_DOUBLE_EQ(found->CorrectionOf("async", 2),
                   quiet->CorrectionOf("async", 2));
}

TEST(ComparisonCalibrationTest, AFileGivesTheSame) {
  const auto read = ParseComparison(ComparisonJson(Whole()));
  ASSERT_TRUE(read.ok()) << read.status();
  const auto from_file = CalibrationOf(*read, {});
  const auto c = CalibrationOf(Whole(), {});
  ASSERT_TRUE(from_file.ok()) << from_file.status();
  EXPECT_EQ(CalibrationToJson(*from_file), CalibrationToJson(*c));
}

TEST(ComparisonCalibrationTest, TablesThatDoNotFitRefuseARing) {
  const auto c = CalibrationOf(Whole(), {});
  ASSERT_TRUE(c.ok()) << c.status();
  ClusterDescription cluster;
  cluster.hosts = 4;
  cluster.bits_per_second = 1e9;
  cluster.memory_bytes = 450e6;
  const auto fits = [&](const char* mode) {
    return Predict(*FindModeShape(mode), *c, MeasuredJob(*c), cluster, 4).fits;
  };
  EXPECT_FALSE(fits("ring"));
  cluster.memory_bytes = 1e9;
  EXPECT_TRUE(fits("ring"));
}

// Pieces of data end with a short batch. A step of 960 rows sends as many dense
// bytes as one of 1,024, so it sends more for a sample.
TEST(ComparisonCalibrationTest, ShortBatchesDoNotLookLikeMoreIds) {
  Comparison comparison = Whole();
  for (Cell& cell : comparison.cells) {
    cell.runs = {RunOf(cell.mode, /*rows=*/960)};
  }
  const auto c = CalibrationOf(comparison, {});
  ASSERT_TRUE(c.ok()) << c.status();
  ASSERT_EQ(c->distinct_ids.size(), 1u);
  EXPECT_NEAR(c->distinct_ids[0].samples, 960, 1e-6);
  EXPECT_NEAR(c->distinct_ids[0].ids, kIds, 1e-6);
  EXPECT_EQ(c->batch_size, 1024);  // what was asked for
  EXPECT_EQ(c->most_batch, 1024);
}

TEST(ComparisonCalibrationTest, IdsThatWereCountedAreBelievedFirst) {
  Comparison comparison = Whole();
  for (Cell& cell : comparison.cells) {
    if (cell.mode == "ring") continue;
    cell.formula = ServedBytes(1024, 9000);
    cell.runs[0].bytes_per_sample = ServedBytes(1000, 8500);
  }
  const auto c = CalibrationOf(comparison, {});
  ASSERT_TRUE(c.ok()) << c.status();
  EXPECT_NEAR(c->distinct_ids[0].samples, 1024, 1e-6);
  EXPECT_NEAR(c->distinct_ids[0].ids, 9000, 1e-6);
}

TEST(ComparisonCalibrationTest, BytesThatAreNotThoseOfTheModeAreLeftOut) {
  Comparison comparison = Whole();
  for (Cell& cell : comparison.cells) {
    cell.runs[0].bytes_per_sample = RoleBytes{9000, 8990, 8990, 9000};
  }
  EXPECT_THAT(WhyNot(comparison), HasSubstr("measure --modes=async,ring"));
}

TEST(ComparisonCalibrationTest, CellsThatSayNothingAreLeftOut) {
  const auto c = CalibrationOf(Whole(), {});
  ASSERT_TRUE(c.ok());
  Comparison more = Whole();
  for (int kind = 0; kind < 5; ++kind) {
    Cell bad = CellOf("async", kind == 0 ? 4 : 2);
    bad.name = absl::StrCat("bad", kind);
    bad.runs[0].samples_per_second = 1;
    bad.runs[0].cpu_seconds_per_sample = RoleFigures{1, 1};
    if (kind == 1) bad.grey = "a busy neighbour";
    if (kind == 2) bad.compute = "replayed";
    if (kind == 3) bad.backup_workers = 1;
    if (kind == 4) bad.straggler = Straggler{0, .5};
    more.cells.push_back(bad);
  }
  // A run that failed, beside one that did not.
  CellRun failed = more.cells[0].runs[0];
  failed.repeat = 1;
  failed.ok = false;
  failed.error = "lost";
  failed.cpu_seconds_per_sample = RoleFigures{1, 1};
  more.cells[0].runs.push_back(failed);
  const auto same = CalibrationOf(more, {});
  ASSERT_TRUE(same.ok()) << same.status();
  EXPECT_EQ(CalibrationToJson(*same), CalibrationToJson(*c));
}

TEST(ComparisonCalibrationTest, APlanForItsOwnCellsTakesAllHosts) {
  Comparison comparison = Whole();
  comparison.cells.push_back(CellOf("async", 4));
  const auto c = CalibrationOf(
      comparison, {.most_hosts = std::numeric_limits<int>::max()});
  ASSERT_TRUE(c.ok()) << c.status();
  EXPECT_EQ(c->most_hosts, 4);
  EXPECT_THAT(c->source, HasSubstr("up to 4 hosts"));
}

// Over loopback there is no link, and on hosts by ssh nobody knows the cores.
TEST(ComparisonCalibrationTest, WithoutLinksOrCoresNothingIsCorrected) {
  Comparison loopback = Whole();
  for (Cell& cell : loopback.cells) {
    cell.bits_per_second = 0;
    cell.cores_per_host = 0;
  }
  const auto c = CalibrationOf(loopback, {});
  ASSERT_TRUE(c.ok()) << c.status();
  EXPECT_TRUE(c->corrections.empty());
  EXPECT_FALSE(c->network_measured);
  Comparison hosts = Whole();
  for (Cell& cell : hosts.cells) cell.cores_per_host = 0;
  const auto unknown = CalibrationOf(hosts, {});
  ASSERT_TRUE(unknown.ok()) << unknown.status();
  EXPECT_TRUE(unknown->corrections.empty());
  EXPECT_EQ(unknown->most_cores, 0);
}

TEST(ComparisonCalibrationTest, TheDepthIsThatOfTheModelsFlags) {
  Comparison comparison = Whole();
  comparison.models["A"].flags["pipeline_depth"] = "2";
  EXPECT_EQ(CalibrationOf(comparison, {})->pipeline_depth, 2);
}

TEST(ComparisonCalibrationTest, HowIdsGrowIsThatOfTheData) {
  Comparison comparison = Whole();
  comparison.models["A"].distinct_ids = {{1024, 9000}, {8192, 40'000}};
  const auto c = CalibrationOf(comparison, {});
  ASSERT_TRUE(c.ok()) << c.status();
  ASSERT_EQ(c->distinct_ids.size(), 2u);
  EXPECT_NEAR(c->IdsOf(8192), 40'000, 1e-6);
  // Numbers of a file that cannot be.
  comparison.models["A"].distinct_ids = {{8192, 40'000}, {1024, 9000}};
  EXPECT_THAT(WhyNot(comparison), HasSubstr("must ascend"));
}

TEST(ComparisonCalibrationTest, WithoutOneHostTheSpreadOfStepsIsTheUsualOne) {
  Comparison comparison = Whole();
  std::erase_if(comparison.cells,
                [](const Cell& cell) { return cell.hosts == 1; });
  const auto c = CalibrationOf(comparison, {});
  ASSERT_TRUE(c.ok()) << c.status();
  EXPECT_EQ(c->step_times.p99, UsualTimes().p99);
  EXPECT_GT(c->step_times.ExpectedMax(8), 1.05);
}

TEST(ComparisonCalibrationTest, BucketsAreThoseOfTheFlagsAndOneOrderIsKnown) {
  Comparison comparison = Whole();
  comparison.models["A"].flags["bucket_bytes"] = "65536";
  EXPECT_EQ(CalibrationOf(comparison, {})->bucket_bytes, 65536);
  comparison.models["A"].flags["reduction"] = "rank_order";
  EXPECT_THAT(WhyNot(comparison), HasSubstr("--reduction=rank_order"));
}

TEST(ComparisonCalibrationTest, OneOfSeveralModelsHasToBeNamed) {
  Comparison comparison = Whole();
  comparison.models["B"] = comparison.models["A"];
  EXPECT_THAT(WhyNot(comparison), HasSubstr("A, B; name one"));
  EXPECT_THAT(WhyNot(comparison, {.model = "C"}), HasSubstr("A, B"));
  EXPECT_THAT(WhyNot(comparison, {.model = "B"}),
              HasSubstr("no cell of model B"));
  EXPECT_TRUE(CalibrationOf(comparison, {.model = "A"}).ok());
}

TEST(ComparisonCalibrationTest, ReplayedCellsAloneAreNotEnough) {
  Comparison comparison = Whole();
  for (Cell& cell : comparison.cells) cell.compute = "replayed";
  EXPECT_THAT(WhyNot(comparison), HasSubstr("trained, is not grey"));
}

}  // namespace
}  // namespace shoal
