#include "report/job_summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "absl/strings/match.h"
#include "report/closing_text.h"
#include "tests/harness/test_paths.h"

namespace shoal {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

JobFacts SomeFacts() { return {"async", "deepfm", 1, 2, 1}; }

JobReport SomeReport() {
  JobReport report;
  report.finished = true;
  report.trained = 1000;
  report.rejected = 20;
  report.lost = 3;
  report.batches = 12;
  report.mended = 1;
  report.recomputed = 2;
  report.repeats_refused = 5;
  report.wall = absl::Milliseconds(2500);
  report.steady_samples = 500;
  report.steady_wall_seconds = 2;
  report.steady_worker_cpu_seconds = 1.5;
  report.steady_ps_cpu_seconds = 0.5;
  report.staleness.Add(0, 9);
  report.staleness.Add(4, 1);
  report.eval = {0.75, 0.5, 200, 1.5};
  report.eval.epoch = 2;
  report.eval.step = 12;
  report.eval.examples_of_worker = {{1, 200}};
  report.evals = {report.eval, report.eval};
  report.evals[0].epoch = 1;
  report.evals[0].exact_auc = false;
  report.evals[0].auc_error = 2e-6;
  report.workers = {{0, true, 600, 2.0, 1 << 20}, {1, true, 400, 1.0, 1 << 20}};
  report.ps.resize(1);
  report.ps[0].address = "in-process:0";
  report.ps[0].cpu_seconds = 0.5;
  report.ps[0].stats.bytes = 4096;
  report.ps[0].stats.rows = 7;
  report.ps[0].stats.lookups = 99;
  report.digest = 0xabc;
  return report;
}

TEST(SummaryJson, HoldsTheRun) {
  const json summary = json::parse(SummaryJson(SomeFacts(), SomeReport()));
  EXPECT_EQ(summary["mode"], "async");
  EXPECT_EQ(summary["model"], "deepfm");
  EXPECT_EQ(summary["ps"], 1);
  EXPECT_EQ(summary["workers"], 2);
  EXPECT_EQ(summary["samples"],
            json({{"trained", 1000}, {"rejected", 20}, {"lost", 3}}));
  EXPECT_EQ(summary["per_worker"], json({600, 400}));
  EXPECT_EQ(summary["batches"]["mended"], 1);
  EXPECT_EQ(summary["batches"]["recomputed"], 2);
  EXPECT_EQ(summary["batches"]["repeats_refused"], 5);
  EXPECT_EQ(summary["wall_seconds"], 2.5);
  EXPECT_EQ(summary["cpu_seconds"], 3.5);
  EXPECT_EQ(summary["steady"]["samples_per_second"], 250);
  EXPECT_EQ(summary["steady"]["cpu_seconds"]["ps"], 0.5);
  EXPECT_EQ(summary["eval"]["auc"], 0.75);
  EXPECT_EQ(summary["eval"]["auc_error"], 0);
  EXPECT_EQ(summary["eval"]["calibration"], 1.5);
  EXPECT_EQ(summary["eval"]["per_worker"], json({0, 200}));
  ASSERT_EQ(summary["evals"].size(), 2u);
  EXPECT_EQ(summary["evals"][0]["epoch"], 1);
  EXPECT_EQ(summary["evals"][0]["auc_error"], 2e-6);
  EXPECT_EQ(summary["evals"][1], summary["eval"]);
  EXPECT_EQ(summary["staleness"]["mean"], 0.4);
  EXPECT_EQ(summary["staleness"]["p50"], 0);
  EXPECT_EQ(summary["staleness"]["max"], 4);
  EXPECT_EQ(summary["balance"][0]["lookups"], 99);
  EXPECT_EQ(summary["digest"], "0000000000000abc");
  EXPECT_EQ(summary["exit_reason"], "done");
}

// The keys of an object and of all objects in it, as in "steady.samples".
void Keys(const json& value, const std::string& prefix,
          std::set<std::string>* keys) {
  if (!value.is_object()) return;
  for (const auto& [key, inner] : value.items()) {
    keys->insert(prefix + key);
    Keys(inner, prefix + key + ".", keys);
  }
}

TEST(SummaryJson, HasTheSameKeysHoweverTheJobEnded) {
  JobReport failed;
  failed.status = absl::AbortedError("ps 1: gone");
  std::set<std::string> whole_keys;
  std::set<std::string> failed_keys;
  Keys(json::parse(SummaryJson(SomeFacts(), SomeReport())), "", &whole_keys);
  const json summary = json::parse(SummaryJson(SomeFacts(), failed));
  Keys(summary, "", &failed_keys);
  EXPECT_EQ(whole_keys, failed_keys);
  EXPECT_EQ(summary["exit_reason"], "ps 1: gone");
  EXPECT_TRUE(summary["eval"]["auc"].is_null());
}

TEST(SummaryJson, HoldsWhatRanWithWhichFlagsAndWhen) {
  JobFacts facts = SomeFacts();
  facts.version = "1.2.3";
  facts.flags = {{"batch_size", "16"}, {"shuffle", "false"}};
  facts.start = absl::FromUnixMillis(1'700'000'000'125);
  JobReport report = SomeReport();
  report.loss = 0.5;
  report.train_data = {2, 300, true, 100, 8, 2, 16};
  report.eval_data = {1, 30, false, 10, 1, 1, 16};
  const json summary = json::parse(SummaryJson(facts, report));
  EXPECT_EQ(summary["version"], "1.2.3");
  EXPECT_EQ(summary["flags"],
            json({{"batch_size", "16"}, {"shuffle", "false"}}));
  EXPECT_EQ(summary["last_loss"], 0.5);
  // The date, and an offset from UTC, give the same time.
  absl::Time start;
  std::string error;
  const std::string text = summary["start"];
  ASSERT_TRUE(absl::ParseTime(absl::RFC3339_full, text, &start, &error))
      << text << error;
  EXPECT_EQ(start, facts.start);
  EXPECT_THAT(text, testing::MatchesRegex(".*[+-][0-9][0-9]:[0-9][0-9]"));
  json data = {{"files", 2},   {"rows", 100},        {"bytes", 300},
               {"batches", 8}, {"short_batches", 2}, {"validation", nullptr}};
  data["validation"] = {{"files", 1},         {"rows", nullptr},
                        {"bytes", 30},        {"batches", nullptr},
                        {"short_batches", nullptr}};
  EXPECT_EQ(summary["data"], data) << "not all of the second were read";
}

TEST(SummaryJson, AReplayHasNoFiguresOfWhatWasNotComputed) {
  JobFacts facts = SomeFacts();
  json summary = json::parse(SummaryJson(facts, SomeReport()));
  EXPECT_EQ(summary["compute"],
            json({{"replayed", false}, {"profile", nullptr}, {"scale", 1.0}}));
  facts.compute = {ComputeSource::kReplay, "/p.json", 2.5};
  JobReport report = SomeReport();
  // As the coordinator fills them in (UnmeasuredMetrics).
  report.eval.auc = std::nan("");
  report.eval.logloss = report.eval.calibration = report.loss = 0;
  report.evals = {report.eval};
  summary = json::parse(SummaryJson(facts, report));
  EXPECT_EQ(summary["compute"], json({{"replayed", true},
                                      {"profile", "/p.json"},
                                      {"scale", 2.5}}));
  for (const char* figure : {"auc", "logloss", "calibration"}) {
    EXPECT_TRUE(summary["eval"][figure].is_null()) << figure;
    EXPECT_TRUE(summary["evals"][0][figure].is_null()) << figure;
  }
  EXPECT_EQ(summary["eval"]["examples"], 200);
  EXPECT_TRUE(summary["last_loss"].is_null());
  EXPECT_TRUE(summary["cpu_seconds"].is_null());
  EXPECT_TRUE(summary["steady"]["cpu_seconds"]["worker"].is_null());
  EXPECT_TRUE(summary["steady"]["cpu_seconds"]["ps"].is_null());
  EXPECT_TRUE(summary["balance"][0]["cpu_seconds"].is_null());
  EXPECT_TRUE(summary["processes"][1]["cpu_seconds"].is_null());
  EXPECT_EQ(summary["steady"]["samples_per_second"], 250);
}

TEST(ClosingText, AReplaySaysSo) {
  JobReport report = SomeReport();
  report.trains = true;
  report.eval.auc = std::nan("");
  report.eval.logloss = report.eval.calibration = 0;
  report.evals = {report.eval};
  const auto lines =
      ClosingText(report, "", {ComputeSource::kReplay, "/p.json", 2.5});
  EXPECT_THAT(lines, testing::Contains(
                         "compute    replayed from /p.json times 2.5: no model "
                         "was trained, and loss, AUC and CPU time are not "
                         "measured"));
  EXPECT_THAT(lines,
              testing::Contains("AUC        -, logloss -, calibration - on 200 "
                                "examples, after epoch 2"));
  EXPECT_THAT(lines, testing::Contains("speed      408 samples/s over 2.5 s"));
  EXPECT_THAT(ClosingText(report, ""),
              testing::Not(testing::Contains(HasSubstr("replayed"))));
  EXPECT_THAT(ClosingText(report, "", {ComputeSource::kBusy, "/p.json", 2.5}),
              testing::Contains(HasSubstr(
                  "/p.json by busy cores, a batch lasted at least 2.5 times "
                  "its processor time: no model was trained")));
  EXPECT_THAT(ClosingText(report, "", {ComputeSource::kReal, "", 2.5}),
              testing::Contains("compute    held back: a batch lasted at least "
                                "2.5 times its processor time"));
}

TEST(SummaryJson, NamesTheHostOfEachProcess) {
  JobFacts facts = SomeFacts();
  facts.host = "h0";
  JobReport report = SomeReport();
  json summary = json::parse(SummaryJson(facts, report));
  EXPECT_EQ(summary["host"], "h0");
  EXPECT_EQ(summary["balance"][0]["host"], "h0") << "all in this process";
  EXPECT_EQ(summary["processes"][1]["host"], "h0");
  report.ps[0].address = "h1:2223";
  report.workers[1].host = "h2";
  summary = json::parse(SummaryJson(facts, report));
  EXPECT_EQ(summary["balance"][0]["host"], "h1");
  EXPECT_TRUE(summary["processes"][0]["host"].is_null()) << "did not say";
  EXPECT_EQ(summary["processes"][1]["host"], "h2");
  for (const auto& [address, host] :
       {std::pair("[fd00::1]:2223", "fd00::1"), std::pair("[::1]:1", "h0"),
        std::pair("127.0.0.1:1", "h0"), std::pair("localhost:1", "h0")}) {
    report.ps[0].address = address;
    summary = json::parse(SummaryJson(facts, report));
    EXPECT_EQ(summary["balance"][0]["host"], host);
  }
}

TEST(ClosingText, SaysHowManyBatchesAreShort) {
  JobReport report;
  report.train_data = {1, 100, true, 95, 10, 1, 10};
  EXPECT_THAT(ClosingText(report),
              testing::Contains(
                  "batches    10 an epoch, 1 of them short (fewer rows than "
                  "--batch_size=10, as their piece of the data ended); 9.5 "
                  "rows in the mean"));
  report.train_data = {2, 100, false, 70, 10, 5, 10};
  EXPECT_THAT(ClosingText(report),
              testing::Contains(testing::AllOf(
                  HasSubstr("10 an epoch, of the data read so far, 5 of them"),
                  // What to do was said in the log.
                  testing::EndsWith("; 7.0 rows in the mean"))));
  report.train_data = {2, 100, true, 100, 10, 0, 10};
  EXPECT_THAT(ClosingText(report),
              testing::Not(testing::Contains(testing::StartsWith("batches"))));
}

TEST(SummaryJson, WhatIsNotKnownIsNull) {
  const json summary = json::parse(SummaryJson(SomeFacts(), JobReport()));
  for (const char* key : {"version", "start", "last_loss"}) {
    EXPECT_TRUE(summary[key].is_null()) << key;
  }
  for (const char* key : {"files", "rows", "bytes", "batches"}) {
    EXPECT_TRUE(summary["data"][key].is_null()) << key;
  }
  EXPECT_EQ(summary["flags"], json::object());
}

TEST(ClosingText, HasALineForEachEvaluation) {
  const JobReport report = SomeReport();
  const std::vector<std::string> lines = ClosingText(report);
  EXPECT_THAT(lines, testing::Contains(
                         "AUC        0.75000 ± 0.00001 (histogram), logloss "
                         "0.50000, calibration 1.5000 on 200 examples, after "
                         "epoch 1"));
  EXPECT_THAT(lines, testing::Contains(
                         "AUC        0.75000, logloss 0.50000, calibration "
                         "1.5000 on 200 examples, after epoch 2"));
}

TEST(ClosingText, TheOnlyEvaluationOfATrainingHasItsEpochToo) {
  JobReport report = SomeReport();
  report.evals = {report.eval};
  EXPECT_THAT(ClosingText(report),
              testing::Contains(testing::AllOf(
                  testing::StartsWith("AUC "),
                  testing::EndsWith("on 200 examples, after epoch 2"))));
}

TEST(ClosingText, AJobThatHadNothingToTrainHasNoSpeed) {
  JobReport report;
  report.wall = absl::Seconds(2);
  report.trained = report.checkpoint.resumed_samples = 5000;
  report.workers.resize(1);
  report.workers[0].scored = 300;
  EXPECT_THAT(ClosingText(report),
              testing::Contains(
                  "speed      -; CPU: workers 0.0 s, PSs 0.0 s"));
  report.trains = false;
  EXPECT_THAT(ClosingText(report),
              testing::Contains(testing::StartsWith("speed      ")));
}

TEST(ClosingText, OfAJobThatNeverBeganIsEmpty) {
  JobReport report;
  report.checkpoint.resumed_from = "m/ckpt-00000000007";
  report.status = absl::DataLossError("ps 0: ckpt-00000000007 is damaged");
  EXPECT_THAT(ClosingText(report), testing::IsEmpty());
  report.wall = absl::Seconds(1);
  EXPECT_THAT(ClosingText(report),
              testing::Contains(testing::StartsWith("samples ")));
}

TEST(ClosingText, OfAJobThatOnlyEvaluatesHasNoLedger) {
  JobReport report;
  report.trains = false;
  report.eval = {0.75, 0.5, 200, 1.5};
  report.evals = {report.eval};
  report.checkpoint.resumed_from = "m/ckpt-00000000007";
  report.checkpoint.resumed_step = 7;
  const std::vector<std::string> lines = ClosingText(report);
  const auto begins = [](const char* word) {
    return testing::Contains(testing::StartsWith(word));
  };
  EXPECT_THAT(lines, begins("AUC        0.75"));
  EXPECT_THAT(lines, testing::Contains("model      of m/ckpt-00000000007, "
                                       "step 7"));
  for (const char* word : {"samples", "staleness", "resumed", "checkpoint"}) {
    EXPECT_THAT(lines, testing::Not(begins(word)));
  }
  EXPECT_THAT(SummaryLines(report), testing::StartsWith("evaluated: AUC"));
}

TEST(ClosingText, SaysWhereBadRowsAre) {
  JobReport report;
  report.bad_rows = 1234;
  report.named_bad_rows = {"a.libsvm:3: no label", "a.libsvm:9: no label"};
  EXPECT_THAT(ClosingText(report, "m/bad_rows"),
              testing::IsSupersetOf(
                  {"bad rows   1,234, see m/bad_rows/bad-rows-worker-*.tsv; "
                   "the first:",
                   "           a.libsvm:3: no label",
                   "           a.libsvm:9: no label"}));
  EXPECT_THAT(ClosingText(report),
              testing::Contains(HasSubstr("--quarantine_dir")));
}

TEST(ClosingText, TellsOfPredictions) {
  JobReport report;
  report.predicted = 1000;
  EXPECT_THAT(ClosingText(report), testing::Contains("predicted  1,000 rows"));
  report.predicted_nan = 3;
  EXPECT_THAT(ClosingText(report),
              testing::Contains("predicted  1,000 rows, 3 of them nan, which "
                                "could not be parsed"));
  report.status = absl::ResourceExhaustedError("no space");
  report.wall = absl::Seconds(1);
  EXPECT_THAT(ClosingText(report),
              testing::Contains("predicted  1,000 rows of a file that is "
                                "incomplete and was not kept"));
}

// The servers of a ring are parts of its workers.
TEST(ClosingText, ARingHasNoServers) {
  JobReport report = SomeReport();
  EXPECT_THAT(ClosingText(report),
              testing::Contains(testing::EndsWith("s, PSs 0.5 s")));
  report.ps[0].address = "";
  EXPECT_THAT(ClosingText(report),
              testing::Contains(testing::EndsWith("CPU: workers 3.0 s")));
}

TEST(SummaryJson, AReplicatedShardIsInTheBalanceOnce) {
  JobReport report = SomeReport();
  report.ps.push_back(report.ps[0]);
  report.ps[1].index = 1;
  report.ps[1].first_of_shard = false;
  report.ps[1].stats.canary = CanaryStats{10, 0, 1, 1};
  report.ps[0].stats.canary = CanaryStats{10, 0, 1, 1};
  const json summary = json::parse(SummaryJson(SomeFacts(), report));
  ASSERT_EQ(summary["balance"].size(), 1u);
  EXPECT_EQ(summary["balance"][0]["bytes"], 4096);
  EXPECT_EQ(summary["balance"][0]["lookups"], 2 * 99)
      << "each copy serves its own worker";
  EXPECT_EQ(summary["canary"].size(), 2u) << "each copy has canaries";
  EXPECT_EQ(summary["cpu_seconds"], 2.0 + 1.0 + 2 * 0.5);
  int rows = 0;
  for (const std::string& line : ClosingText(report)) {
    rows += absl::StrContains(line, "4096") ? 1 : 0;
  }
  EXPECT_EQ(rows, 1);
}

TEST(SummaryJson, CanariesAreThereWhereTheJobHasThem) {
  JobReport report = SomeReport();
  EXPECT_TRUE(
      json::parse(SummaryJson(SomeFacts(), report))["canary"].is_null());
  ASSERT_FALSE(report.ps.empty());
  report.ps[0].stats.canary = CanaryStats{10, 1, 1, 2};
  const json canary = json::parse(SummaryJson(SomeFacts(), report))["canary"];
  ASSERT_EQ(canary.size(), 1u);
  EXPECT_EQ(canary[0]["shard"], report.ps[0].index);
  EXPECT_EQ(canary[0]["rows"], 10);
  EXPECT_EQ(canary[0]["not_one"], 1);
  EXPECT_EQ(canary[0]["smallest"], 1);
  EXPECT_EQ(canary[0]["largest"], 2);
  EXPECT_THAT(ClosingText(report),
              testing::Contains("canaries   ps 0: 10, 1 of them not 1, from "
                                "1 to 2"));
}

TEST(SummaryJson, StaysValidWithBytesThatAreNoText) {
  JobReport report;
  report.status = absl::AbortedError("bad \xff byte");
  EXPECT_TRUE(json::accept(SummaryJson(SomeFacts(), report)));
}

TEST(SummaryJson, HoldsTheTimeOfEachWorkerByState) {
  JobReport report = SomeReport();
  for (size_t i = 0; i < kStepStates; ++i) {
    report.workers[1].seconds[i] = static_cast<double>(i);
    report.steady_seconds[i] = 0.5 * static_cast<double>(i);
  }
  const json summary = json::parse(SummaryJson(SomeFacts(), report));
  EXPECT_EQ(summary["processes"][0]["seconds"]["wait_ring"], 0);
  const json seconds = {{"compute", 0},   {"prepare", 1},   {"send", 2},
                        {"wait_lease", 3}, {"wait_data", 4}, {"wait_pull", 5},
                        {"wait_push", 6},  {"wait_pace", 7}, {"wait_step", 8},
                        {"wait_ring", 9}};
  EXPECT_EQ(summary["processes"][1]["seconds"], seconds);
  EXPECT_EQ(summary["steady"]["seconds"]["wait_pull"], 2.5);
}

TEST(SummaryJson, HasARowOfBytesForEachRoleAndMethodThatHadAny) {
  JobReport report = SomeReport();
  EXPECT_EQ(json::parse(SummaryJson(SomeFacts(), report))["bytes"],
            json::array());
  report.worker_bytes = {{10, 20}, {30, 0}, {}};
  report.ps_bytes = {{20, 10}, {0, 30}, {}};
  report.steady_worker_bytes = {{1, 2}, {3, 0}, {}};
  const auto row = [](const char* role, const char* peer, const char* method,
                      int sent, int received) {
    return json({{"role", role},
                 {"peer", peer},
                 {"method", method},
                 {"sent", sent},
                 {"received", received}});
  };
  const json summary = json::parse(SummaryJson(SomeFacts(), report));
  EXPECT_EQ(summary["bytes"], json({row("worker", "ps", "pull", 10, 20),
                                    row("worker", "ps", "push", 30, 0),
                                    row("ps", "worker", "pull", 20, 10),
                                    row("ps", "worker", "push", 0, 30)}));
  EXPECT_EQ(summary["steady"]["bytes"],
            json({row("worker", "ps", "pull", 1, 2),
                  row("worker", "ps", "push", 3, 0),
                  row("ps", "worker", "pull", 0, 0),
                  row("ps", "worker", "push", 0, 0)}))
      << "the same rows";
  report.worker_bytes = {{}, {}, {7, 7}};
  report.ps_bytes = {};
  EXPECT_EQ(json::parse(SummaryJson(SomeFacts(), report))["bytes"],
            json::array({row("worker", "worker", "ring", 7, 7)}));
}

TEST(SummaryJson, HoldsTheDistributionOfStepTimes) {
  JobReport report = SomeReport();
  EXPECT_TRUE(
      json::parse(SummaryJson(SomeFacts(), report))["step_seconds"].is_null());
  report.step_times.micros.Add(400, 50);
  report.step_times.micros.Add(600, 49);
  report.step_times.micros.Add(1000);
  report.step_times.square_sum =
      (50 * 400.0 * 400 + 49 * 600.0 * 600 + 1000.0 * 1000) * 1e-12;
  const json steps =
      json::parse(SummaryJson(SomeFacts(), report))["step_seconds"];
  EXPECT_EQ(steps["count"], 100);
  EXPECT_DOUBLE_EQ(steps["mean"], 504e-6);
  EXPECT_NEAR(steps["deviation"].get<double>(), 111.28e-6, 0.01e-6);
  EXPECT_DOUBLE_EQ(steps["p10"], 400e-6);
  EXPECT_DOUBLE_EQ(steps["p50"], 400e-6);
  EXPECT_DOUBLE_EQ(steps["p90"], 600e-6);
  EXPECT_DOUBLE_EQ(steps["p99"], 600e-6);
  EXPECT_DOUBLE_EQ(steps["max"], 1000e-6);
}

TEST(SummaryJson, HoldsTheCurveWithNullsWhereNothingIsKnown) {
  JobReport report = SomeReport();
  report.curve = {{absl::ZeroDuration(), 0, 0, 0},
                  {absl::Seconds(1.5), 900, 0.5, 0.75}};
  const json curve = json::parse(SummaryJson(SomeFacts(), report))["curve"];
  EXPECT_EQ(curve, json::parse(R"([
      {"seconds": 0.0, "samples": 0, "loss": null, "auc": null},
      {"seconds": 1.5, "samples": 900, "loss": 0.5, "auc": 0.75}])"));
}

TEST(SummaryJson, IsTheSameOnOneLine) {
  JobReport report = SomeReport();
  report.status = absl::AbortedError("a \"word\", {x} [y]: \\");
  report.curve = {{absl::Seconds(1), 9, 0.5, 0.75}};
  const std::string line =
      SummaryJson(SomeFacts(), report, JsonLayout::kCompact);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  EXPECT_EQ(IndentJson(line) + "\n", SummaryJson(SomeFacts(), report));
}

TEST(SummaryDocument, DescribesEveryKey) {
  std::ifstream file(SourceDir() + "/docs/summary.md");
  ASSERT_TRUE(file) << "docs/summary.md is missing";
  std::stringstream text;
  text << file.rdbuf();
  std::set<std::string> keys;
  JobReport report = SomeReport();
  report.step_times.micros.Add(1);
  Keys(json::parse(SummaryJson(SomeFacts(), report)), "", &keys);
  for (const std::string& key : keys) {
    EXPECT_THAT(text.str(), HasSubstr("`" + key + "`"));
  }
}

}  // namespace
}  // namespace shoal
