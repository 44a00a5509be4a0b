#include "bench/compare/run_figures.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "cluster/job_report.h"
#include "report/job_summary.h"

namespace shoal {
namespace {

using ::testing::HasSubstr;

// The keys that a comparison reads.
constexpr char kSummary[] = R"({
  "data": {"files": 8, "rows": 4000, "batches": 5},
  "wall_seconds": 20,
  "steady": {"samples": 1000, "wall_seconds": 10, "samples_per_second": 100,
    "cpu_seconds": {"worker": 4, "ps": 1},
    "seconds": {"compute": 6, "wait_pull": 2, "send": 0},
    "bytes": [
      {"role": "worker", "peer": "ps", "method": "pull", "sent": 1000,
       "received": 8000},
      {"role": "worker", "peer": "worker", "method": "ring", "sent": 2000,
       "received": 2000},
      {"role": "ps", "peer": "worker", "method": "pull", "sent": 8000,
       "received": 1000}]},
  "step_seconds": {"count": 90, "mean": 0.4, "deviation": 0.04, "p10": 0.2,
    "p50": 0.4, "p90": 0.6, "p99": 0.8, "max": 1},
  "staleness": {"mean": 1.5, "p50": 1, "p99": 4, "max": 9},
  "balance": [{"bytes": 100, "peak_rss_bytes": 5},
              {"bytes": 300, "peak_rss_bytes": 7}],
  "processes": [{"peak_rss_bytes": 11}, {"peak_rss_bytes": 10}],
  "curve": [{"seconds": 4, "samples": 2000, "loss": 0.6, "auc": 0.7},
            {"seconds": 8, "samples": 4000, "loss": 0.5, "auc": 0.75},
            {"seconds": 12, "samples": 8000, "loss": 0.4, "auc": 0.8}],
  "eval": {"auc": 0.76, "logloss": 0.45}
})";

Cell Dilated() {
  Cell cell;
  cell.mode = "async";
  cell.dilation = 4;
  return cell;
}

CellRun Read(const Cell& cell, const std::string& text,
             std::optional<double> target = std::nullopt) {
  CellRun run;
  SummaryData data;
  const absl::Status status = ReadSummary(text, cell, target, &run, &data);
  EXPECT_TRUE(status.ok()) << status;
  return run;
}

TEST(ReadSummaryTest, MultipliesBackWhatIsTimeAndNothingElse) {
  CellRun run;
  SummaryData data;
  ASSERT_TRUE(
      ReadSummary(kSummary, Dilated(), std::nullopt, &run, &data).ok());
  EXPECT_EQ(data.rows, 4000u);
  EXPECT_EQ(data.files, 8u);
  EXPECT_EQ(data.mean_batch, 800);
  EXPECT_EQ(run.seconds, 5);
  EXPECT_EQ(run.samples_per_second, 400);
  EXPECT_EQ(run.epoch_seconds, 10);
  EXPECT_EQ(run.cpu_seconds_per_sample->worker, .004);
  EXPECT_EQ(run.cpu_seconds_per_sample->ps, .001);
  EXPECT_EQ(run.bytes_per_sample->worker_sent, 3);
  EXPECT_EQ(run.bytes_per_sample->worker_received, 10);
  EXPECT_EQ(run.bytes_per_sample->ps_sent, 8);
  EXPECT_EQ(run.bytes_per_sample->ps_received, 1);
  EXPECT_EQ(run.state_shares.at("compute"), .75);
  EXPECT_EQ(run.state_shares.at("wait_pull"), .25);
  EXPECT_EQ(run.step_seconds->count, 90u);
  EXPECT_EQ(run.step_seconds->mean, .1);
  EXPECT_EQ(run.step_seconds->max, .25);
  EXPECT_EQ(run.staleness->p99, 4);
  EXPECT_EQ(run.peak_rss_bytes->worker, 11);
  EXPECT_EQ(run.peak_rss_bytes->ps, 7);
  EXPECT_EQ(run.balance->max_over_mean_bytes, 1.5);
  ASSERT_EQ(run.curve.size(), 3u);
  EXPECT_EQ(run.curve[1].seconds, 2);
  EXPECT_EQ(run.curve[1].samples, 4000u);
  EXPECT_EQ(run.auc, .76);
  EXPECT_EQ(run.logloss, .45);
  EXPECT_EQ(run.seconds_to_target, std::nullopt);
}

TEST(ReadSummaryTest, ProcessorTimeIsThatOfAHostThatIsNotPaused) {
  CellRun run;
  run.paused_speed = .5;
  SummaryData data;
  ASSERT_TRUE(ReadSummary(kSummary, Dilated(), std::nullopt, &run, &data).ok());
  EXPECT_EQ(run.cpu_seconds_per_sample->worker, .002);
  EXPECT_EQ(run.cpu_seconds_per_sample->ps, .0005);
  EXPECT_EQ(run.samples_per_second, 400);
}

TEST(ReadSummaryTest, TheTargetCountsInTheFirstPassAlone) {
  EXPECT_EQ(Read(Dilated(), kSummary, .72).seconds_to_target, 2);
  EXPECT_EQ(Read(Dilated(), kSummary, .78).seconds_to_target, std::nullopt);
  EXPECT_EQ(Read(Dilated(),
                 absl::StrReplaceAll(kSummary, {{"\"rows\": 4000",
                                                 "\"rows\": 8000"}}),
                 .78)
                .seconds_to_target,
            3);
}

TEST(ReadSummaryTest, AReplayHasNoAucNoStalenessAndNoProcessorTime) {
  Cell cell = Dilated();
  cell.compute = "replayed";
  const CellRun run = Read(cell, kSummary, .7);
  EXPECT_EQ(run.samples_per_second, 400);
  EXPECT_EQ(run.cpu_seconds_per_sample, std::nullopt);
  EXPECT_EQ(run.staleness, std::nullopt);
  EXPECT_TRUE(run.curve.empty());
  EXPECT_EQ(run.auc, std::nullopt);
  EXPECT_EQ(run.seconds_to_target, std::nullopt);
}

TEST(ReadSummaryTest, ARingHasNoServers) {
  Cell cell = Dilated();
  cell.mode = "ring";
  EXPECT_EQ(Read(cell, kSummary).peak_rss_bytes->ps, 0);
}

// The summary of a job that was stopped before it knew anything, as this
// version writes it: nothing that it does not say becomes a 0.
TEST(ReadSummaryTest, WhatASummaryDoesNotSayIsNotKnown) {
  const CellRun run = Read(Dilated(), SummaryJson(JobFacts{}, JobReport{}));
  EXPECT_EQ(run.samples_per_second, std::nullopt);
  EXPECT_EQ(run.epoch_seconds, std::nullopt);
  EXPECT_EQ(run.cpu_seconds_per_sample, std::nullopt);
  EXPECT_EQ(run.bytes_per_sample, std::nullopt);
  EXPECT_TRUE(run.state_shares.empty());
  EXPECT_EQ(run.balance, std::nullopt);
  EXPECT_EQ(run.auc, std::nullopt);
}

TEST(ReadSummaryTest, RefusesWhatIsNoSummary) {
  CellRun run;
  SummaryData data;
  for (const char* text : {"", "[]", "{}", "{\"data\": 1}"}) {
    EXPECT_EQ(ReadSummary(text, Dilated(), std::nullopt, &run, &data).code(),
              absl::StatusCode::kInvalidArgument)
        << text;
  }
  const std::string without =
      absl::StrReplaceAll(kSummary, {{"\"wall_seconds\": 20,", ""}});
  EXPECT_THAT(
      ReadSummary(without, Dilated(), std::nullopt, &run, &data).message(),
      HasSubstr("wall_seconds: is missing"));
}

}  // namespace
}  // namespace shoal
