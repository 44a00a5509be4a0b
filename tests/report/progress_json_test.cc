#include "report/progress_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "report/number_text.h"
#include "report/progress_text.h"

namespace shoal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

ProgressFigures SomeFigures() {
  ProgressFigures figures;
  figures.started = true;
  figures.step = 1234;
  figures.trained = 40000;
  figures.samples = 80000;
  figures.fraction_done = 0.5;
  figures.samples_per_second = 45678.4;
  figures.loss = 0.25;
  figures.progressive_auc = 0.75;
  figures.staleness_mean = 1.5;
  figures.staleness_max = 7;
  figures.workers_alive = 2;
  figures.workers_planned = 2;
  figures.epoch = 2;
  figures.epochs = 3;
  figures.wall_seconds = 90;
  return figures;
}

TEST(ProgressJson, IsReadBack) {
  const std::string line = ProgressJson(SomeFigures());
  EXPECT_EQ(line.find('\n'), std::string::npos);
  const auto parsed = ParseJobJson(line);
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  const auto& figures = std::get<ProgressFigures>(*parsed);
  EXPECT_TRUE(figures.started);
  EXPECT_EQ(figures.step, 1234u);
  EXPECT_EQ(figures.trained, 40000u);
  EXPECT_EQ(figures.samples, 80000u);
  EXPECT_EQ(figures.samples_per_second, 45678.4);
  EXPECT_EQ(figures.loss, 0.25);
  EXPECT_EQ(figures.staleness_max, 7u);
  EXPECT_EQ(figures.workers_alive, 2);
  EXPECT_EQ(figures.workers_planned, 2);
  EXPECT_EQ(figures.epoch, 2u);
  EXPECT_EQ(figures.epochs, 3u);
}

TEST(ProgressText, BeforeTheFirstLeaseNamesWhomTheJobWaitsFor) {
  ProgressFigures figures;
  figures.waiting_for = "ps 1, worker 0";
  EXPECT_EQ(ProgressText(figures), "waiting for ps 1, worker 0");
  const auto parsed = ParseJobJson(ProgressJson(figures));
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(std::get<ProgressFigures>(*parsed).waiting_for, "ps 1, worker 0");
}

TEST(ProgressJson, WhatThereIsNotIsLeftOut) {
  ProgressFigures begun = SomeFigures();
  begun.loss = begun.progressive_auc = 0;
  for (const char* key :
       {"loss", "progressive_auc", "eval_auc", "eval_epoch"}) {
    EXPECT_THAT(ProgressJson(begun), Not(HasSubstr(key)));
  }
  EXPECT_FALSE(std::get<ProgressFigures>(*ParseJobJson(ProgressJson(begun)))
                   .eval.has_value());
  ProgressFigures evaluates;
  evaluates.trains = false;
  evaluates.fraction_done = 0.5;
  for (const char* key :
       {"step", "trained", "samples\"", "staleness", "eval"}) {
    EXPECT_THAT(ProgressJson(evaluates), Not(HasSubstr(key)));
  }
  evaluates.eval = {0.75, 0};
  const auto parsed = ParseJobJson(ProgressJson(evaluates));
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  const auto& figures = std::get<ProgressFigures>(*parsed);
  EXPECT_FALSE(figures.trains);
  ASSERT_TRUE(figures.eval.has_value());
  EXPECT_EQ(figures.eval->auc, 0.75);
  EXPECT_EQ(ProgressText(figures), "50.0 %, - left, 0 samples/s, 0 workers");
}

TEST(ProgressText, OfAJobThatIsOverIsOfTheWholeJob) {
  JobReport report;
  report.over = true;
  report.fraction_done = 1;
  report.trained = 5000;
  report.rejected = 500;
  report.checkpoint.resumed_samples = 1500;
  report.wall = absl::Seconds(2);
  report.workers = {{0, false, 600}, {1, false, 400}};  // they have left
  const auto parsed = ParseJobJson(ProgressJson(ProgressOf(report)));
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(ProgressText(std::get<ProgressFigures>(*parsed)),
            "epoch 1/1, 100.0 %, 2,000 samples/s, loss -, AUC -, step 0, "
            "staleness -");
  report.trains = false;
  report.trained = report.rejected = report.checkpoint.resumed_samples = 0;
  report.workers[0].scored = 9000;
  report.workers[1].scored = 1000;
  EXPECT_EQ(ProgressText(ProgressOf(report)), "100.0 %, 5,000 samples/s");
}

TEST(ProgressJson, NamesTheNewestCheckpointOrTheOneThatTheJobBeganFrom) {
  JobReport report;
  auto parsed = ParseJobJson(ProgressJson(ProgressOf(report)));
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(std::get<ProgressFigures>(*parsed).checkpoint, "");
  report.checkpoint.resumed_from = "m/ckpt-7";
  report.checkpoint.resumed_step = 7;
  parsed = ParseJobJson(ProgressJson(ProgressOf(report)));
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(std::get<ProgressFigures>(*parsed).checkpoint, "m/ckpt-7");
  EXPECT_EQ(std::get<ProgressFigures>(*parsed).checkpoint_step, 7u);
  report.checkpoint.path = "m/ckpt-9";
  report.checkpoint.step = 9;
  parsed = ParseJobJson(ProgressJson(ProgressOf(report)));
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(std::get<ProgressFigures>(*parsed).checkpoint, "m/ckpt-9");
  EXPECT_EQ(std::get<ProgressFigures>(*parsed).checkpoint_step, 9u);
}

TEST(ProgressJson, ANumberThatIsNotFiniteDoesNotBreakTheLine) {
  ProgressFigures figures = SomeFigures();
  figures.loss = std::nan("");
  const auto parsed = ParseJobJson(ProgressJson(figures));
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(std::get<ProgressFigures>(*parsed).loss, 0);
}

TEST(EndingJson, IsReadBackWhateverTheReasonHolds) {
  const auto parsed = ParseJobJson(EndingJson({false,
                                               "ps 1: \"x\"\n\xff",
                                               {"line 1", "line 2"},
                                               "ps 1",
                                               true,
                                               "no space",
                                               15,
                                               "goes on from m",
                                               true,
                                               true}));
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  const auto& ending = std::get<JobEnding>(*parsed);
  EXPECT_FALSE(ending.ok);
  EXPECT_THAT(ending.reason, HasSubstr("ps 1: \"x\"\n"));
  EXPECT_THAT(ending.lines, ElementsAre("line 1", "line 2"));
  EXPECT_EQ(ending.first, "ps 1");
  EXPECT_TRUE(ending.stopped);
  EXPECT_EQ(ending.unwritten, "no space");
  EXPECT_EQ(ending.signal, 15);
  EXPECT_EQ(ending.resume, "goes on from m");
  EXPECT_TRUE(ending.lost);
  EXPECT_TRUE(ending.fails_again);
  EXPECT_EQ(ending.summary, "");
}

TEST(EndingJson, BringsTheSummaryAsItIs) {
  JobEnding ending;
  ending.reason = R"(a reason with ,"summary":{"x":1}})";
  ending.lines = {R"(,"summary":3)"};
  ending.summary = R"({"mode":"ring","evals":[],"digest":"}}","n":1e-07})";
  const std::string line = EndingJson(ending);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  const auto parsed = ParseJobJson(line);
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(std::get<JobEnding>(*parsed).summary, ending.summary);
  EXPECT_EQ(std::get<JobEnding>(*parsed).reason, ending.reason);
  ending.summary = "3";
  EXPECT_FALSE(ParseJobJson(EndingJson(ending)).ok());
}

TEST(ParseJobJson, RefusesEverythingElse) {
  for (const char* line :
       {"", "hello", "{}", "[]", "17", "{\"progress\": 3}",
        "{\"progress\": {\"step\": -1}}", "{\"end\": {\"ok\": 1}}",
        "{\"end\": {\"ok\": true, \"reason\": \"\", \"lines\": [1]}}"}) {
    EXPECT_FALSE(ParseJobJson(line).ok()) << line;
  }
}

TEST(ProgressText, SaysWhatAnOperatorWantsToKnow) {
  ProgressFigures evaluated = SomeFigures();
  evaluated.eval = {0.7654, 2};
  const auto parsed = ParseJobJson(ProgressJson(evaluated));
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_THAT(ProgressText(std::get<ProgressFigures>(*parsed)),
              HasSubstr("AUC 0.7500, eval AUC 0.7654 after epoch 2, step"));
  EXPECT_EQ(ProgressText(SomeFigures()),
            "epoch 2/3, 50.0 %, 1m30s left, 45,678 samples/s, loss 0.2500, "
            "AUC 0.7500, step 1,234, staleness 1.5 (max 7), 2 workers");
}

TEST(ProgressText, WhatIsNotKnownIsADash) {
  ProgressFigures begun;
  begun.epochs = 3;
  begun.workers_alive = begun.workers_planned = 1;
  EXPECT_EQ(ProgressText(begun),
            "epoch 1/3, 0.0 %, - left, - samples/s, loss -, AUC -, step 0, "
            "staleness -, 1 worker");
  begun.loss = begun.progressive_auc = std::nan("");
  begun.eval = {std::nan(""), 1};
  EXPECT_THAT(ProgressText(begun),
              HasSubstr("loss -, AUC -, eval AUC - after epoch 1"));
}

TEST(ProgressText, MissingWorkersAreNamedBeforeTheRate) {
  ProgressFigures figures = SomeFigures();
  figures.workers_alive = 1;
  EXPECT_THAT(ProgressText(figures),
              HasSubstr("1m30s left, 1 of 2 workers, 45,678 samples/s"));
  EXPECT_THAT(ProgressText(figures), Not(HasSubstr("(max 7), ")));
}

TEST(ProgressText, ARunningEvaluationShowsItsAucSoFar) {
  ProgressFigures figures = SomeFigures();
  figures.eval = {0.7654, 1};
  figures.evaluating = {0.4, 0.8123};
  const auto parsed = ParseJobJson(ProgressJson(figures));
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  figures = std::get<ProgressFigures>(*parsed);
  EXPECT_THAT(ProgressText(figures),
              HasSubstr(", 50.0 %, - left, 45,678 samples/s, eval 40 %, eval "
                        "AUC 0.8123 so far, loss 0.2500, AUC 0.7500, step"));
  figures.evaluating->scored = 1;
  EXPECT_THAT(ProgressText(figures),
              HasSubstr("AUC 0.7500, eval AUC 0.8123 so far, step"))
      << "its figures are worked out, while training goes on";
  figures.trains = false;
  EXPECT_THAT(ProgressText(figures), HasSubstr(", AUC 0.8123 so far, 2 wor"));
  figures.evaluating = RunningEvaluation{};
  EXPECT_THAT(ProgressText(figures), HasSubstr(", AUC - so far, "));
}

TEST(ProgressText, NothingIsLeftOnlyOnceTheJobIsOver) {
  ProgressFigures figures = SomeFigures();
  figures.fraction_done = 0.99999;
  EXPECT_THAT(ProgressText(figures), HasSubstr(", 100.0 %, - left, "));
  figures.fraction_done = 1;
  EXPECT_THAT(ProgressText(figures), HasSubstr(", 100.0 %, - left, "));
  figures.over = true;
  EXPECT_THAT(ProgressText(figures), Not(HasSubstr("left")));
}

TEST(ProgressParts, EightyColumnsHoldARunningEvaluation) {
  ProgressFigures figures = SomeFigures();
  figures.epoch = figures.epochs = 10;
  figures.fraction_done = 1;
  figures.samples_per_second = 1234567;
  figures.evaluating = {0.64, 0.8123};
  const LiveParts parts = ProgressParts(figures);
  EXPECT_EQ(LiveLine(parts, 79),
            "epoch 10/10, 100.0 %, - left, 1.23M/s, eval 64 %, eval AUC "
            "0.8123, loss 0.2500");
  EXPECT_EQ(LiveLine(parts, 59),
            "epoch 10/10, 100.0 %, - left, 1.23M/s, eval 64 %");
}

TEST(ProgressParts, EightyColumnsHoldTheNewestEvaluationInAnyEpoch) {
  ProgressFigures figures = SomeFigures();
  figures.epoch = figures.epochs = 100;
  figures.wall_seconds = 23.99 * 3600;
  figures.samples_per_second = 1234567;
  figures.evaluating = {1, 0.7654};
  EXPECT_EQ(LiveLine(ProgressParts(figures), 79),
            "epoch 100/100, 50 %, 23h59m left, 1.23M/s, loss 0.2500, AUC "
            "0.7500, eval 0.7654");
}

TEST(ProgressParts, EightyColumnsHoldAllUpToTheEvaluationAndSixtyTheLoss) {
  ProgressFigures figures = SomeFigures();
  figures.epoch = figures.epochs = 10;
  figures.wall_seconds = 23.99 * 3600;
  figures.samples_per_second = 1234567;
  figures.eval = {0.7654, 2};
  const LiveParts parts = ProgressParts(figures);
  EXPECT_EQ(LiveLine(parts, 79),
            "epoch 10/10, 50.0 %, 23h59m left, 1.23M/s, loss 0.2500, AUC "
            "0.7500, eval 0.7654");
  EXPECT_EQ(LiveLine(parts, 59),
            "epoch 10/10, 50.0 %, 23h59m left, 1.23M/s, loss 0.2500");
  EXPECT_EQ(LiveLine(parts, 119),
            "epoch 10/10, 50.0 %, 23h59m left, 1.23M/s, loss 0.2500, AUC "
            "0.7500, eval 0.7654, step 1,234, staleness 1.5 (max 7)");
  EXPECT_EQ(LiveLine(parts, 140),
            "epoch 10/10, 50.0 %, 23h59m left, 1,234,567 samples/s, loss "
            "0.2500, AUC 0.7500, eval 0.7654, step 1,234, staleness 1.5 (max "
            "7), 2 workers");
  for (int columns = 1; columns < 200; ++columns) {
    EXPECT_LE(LiveLine(parts, columns).size(), static_cast<size_t>(columns));
  }
  EXPECT_EQ(LiveLine(parts, 5), "epoch");
  EXPECT_EQ(LiveLine({}, 5), "");
}

TEST(InFewDigits, KeepsThree) {
  EXPECT_EQ(InFewDigits(0), "0");
  EXPECT_EQ(InFewDigits(999.4), "999");
  EXPECT_EQ(InFewDigits(999.6), "1.00k");
  EXPECT_EQ(InFewDigits(45678), "45.7k");
  EXPECT_EQ(InFewDigits(999400), "999k");
  EXPECT_EQ(InFewDigits(999600), "1.00M");
  EXPECT_EQ(InFewDigits(123.4e6), "123M");
}

TEST(SpanText, HasTheTwoLargestUnits) {
  EXPECT_EQ(SpanText(0), "0s");
  EXPECT_EQ(SpanText(59.7), "1m0s");
  EXPECT_EQ(SpanText(3599), "59m59s");
  EXPECT_EQ(SpanText(3600), "1h0m");
  EXPECT_EQ(SpanText(100000), "1d3h");
}

}  // namespace
}  // namespace shoal
