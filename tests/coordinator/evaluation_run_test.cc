#include "coordinator/evaluation_run.h"

#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/label.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Two pieces of 50 bytes each, "e" and "f", in batches of 2.
class EvaluationRunTest : public testing::Test {
 protected:
  EvaluationRunTest() {
    options_.batch_size = 2;
    options_.num_epochs = 6;
    options_.eval_every_epochs = 2;
    options_.auc_exact_rows = 100;
  }

  EvaluationRun Make() const {
    return EvaluationRun(options_,
                         PieceFacts("evaluation", {{"e", 50, 1}, {"f", 50, 2}},
                                    {{0, 0, 0, 50}, {1, 1, 0, 50}}, 2));
  }

  void Do(CoordinatorActions actions) {
    for (CoordinatorAction& action : actions) {
      if (auto* score = std::get_if<ScoreAction>(&action)) {
        to_score_.push_back(score->evaluation);
      } else if (auto* write = std::get_if<WritePredictionsAction>(&action)) {
        written_.push_back(std::move(*write));
      } else if (auto* log = std::get_if<LogAction>(&action)) {
        logs_.push_back(log->line);
      }
    }
  }

  LeaseTable::Held Take(EvaluationRun& run) {
    const auto held = run.leases().Take({1, 1}, 0, ++lease_, now_);
    EXPECT_TRUE(held.has_value());
    return held.value_or(LeaseTable::Held{});
  }
  // Scores of a whole piece, or of its first rows.
  absl::StatusOr<bool> Score(EvaluationRun& run, uint32_t number,
                             uint32_t piece, std::vector<float> logits,
                             bool more = false, uint64_t offset = 0) {
    EvalResult result{0, number, piece, std::move(logits), {}, offset, more};
    result.labels.assign(result.logits.size(), 1);
    CoordinatorActions actions;
    auto progress = run.Take(std::move(result), 7, now_, &actions);
    Do(std::move(actions));
    return progress;
  }
  bool Step(EvaluationRun& run, uint64_t step) {
    CoordinatorActions actions;
    const bool done = run.Step(step, &actions);
    Do(std::move(actions));
    return done;
  }

  EvaluationRunOptions options_;
  absl::Time now_ = absl::UnixEpoch();
  uint64_t lease_ = 0;
  std::vector<std::shared_ptr<const Evaluation>> to_score_;
  std::vector<WritePredictionsAction> written_;
  std::vector<std::string> logs_;
};

// ---- When one is due

TEST_F(EvaluationRunTest, EachIsDueAtTheNextMultipleAndTheLastAtTheEnd) {
  options_.num_epochs = 5;
  EvaluationRun run = Make();
  for (const auto& [complete, due] : std::vector<std::pair<uint32_t, uint32_t>>{
           {0, 2}, {1, 2}, {2, 4}, {3, 4}, {4, 5}, {5, 5}}) {
    run.Plan(complete, false);
    EXPECT_EQ(run.due_after(), due) << complete;
    EXPECT_EQ(run.is_last(), due == 5);
  }
}

TEST_F(EvaluationRunTest, AJobThatBeginsWhereOneIsDueMakesItNow) {
  EvaluationRun run = Make();
  run.Plan(2, true);
  EXPECT_EQ(run.due_after(), 2u);
  run.Plan(3, true);
  EXPECT_EQ(run.due_after(), 4u);
  run.Plan(0, true);
  EXPECT_EQ(run.due_after(), 2u);
}

TEST_F(EvaluationRunTest, WithoutPiecesOrWithNoIntervalThereIsOnlyTheEnd) {
  options_.eval_every_epochs = 0;
  EvaluationRun at_end = Make();
  at_end.Plan(1, false);
  EXPECT_EQ(at_end.due_after(), 6u);
  EvaluationRun none;
  EXPECT_TRUE(none.empty());
  EXPECT_EQ(none.FractionScored(), 0);
}

// ---- An evaluation

TEST_F(EvaluationRunTest, GathersAllScoresAndIsWorkedOutOnce) {
  EvaluationRun run = Make();
  run.Plan(0, false);
  Do(run.Begin());
  EXPECT_THAT(logs_,
              ElementsAre("trained for 2 epochs; evaluating on 2 pieces"));
  EXPECT_EQ(run.LeaseOf(Take(run)).purpose, LeasePurpose::kEvaluate);
  EXPECT_TRUE(*Score(run, 0, 0, {1, 2}));
  EXPECT_FALSE(Step(run, 10));
  EXPECT_EQ(run.FractionScored(), 0.5);
  EXPECT_TRUE(*Score(run, 0, 1, {3}));
  EXPECT_FALSE(run.working_out());
  EXPECT_TRUE(Step(run, 10));
  EXPECT_TRUE(run.working_out());
  EXPECT_FALSE(Step(run, 11)) << "once";
  ASSERT_THAT(to_score_, SizeIs(1));
  Do(run.OnScored(to_score_[0]->Report()));
  EXPECT_FALSE(run.working_out());
  JobReport report;
  report.workers.emplace_back().index = 7;
  run.Fill(&report);
  ASSERT_THAT(report.evals, SizeIs(1));
  EXPECT_EQ(report.eval.examples, 3u);
  EXPECT_EQ(report.eval.epoch, 2u);
  EXPECT_EQ(report.eval.step, 10u);
  EXPECT_EQ(report.workers[0].scored, 3u);
}

TEST_F(EvaluationRunTest, WhatTheNextOneScoresIsAddedUp) {
  EvaluationRun run = Make();
  for (uint32_t number = 0; number < 2; ++number) {
    Do(run.Begin());
    EXPECT_EQ(run.LeaseOf(Take(run)).epoch, number);
    EXPECT_TRUE(*Score(run, number, 0, {1, 2}));
    EXPECT_TRUE(*Score(run, number, 1, {3}));
    EXPECT_TRUE(Step(run, number));
    Do(run.OnScored(EvalReport()));
  }
  EXPECT_FALSE(*Score(run, 0, 0, {1, 2})) << "a copy's, of the one before";
  JobReport report;
  report.workers.emplace_back().index = 7;
  run.Fill(&report);
  EXPECT_EQ(report.workers[0].scored, 6u);
  EXPECT_THAT(report.evals, SizeIs(2));
}

TEST_F(EvaluationRunTest, WhatIsScoredIsNotLeasedAgain) {
  EvaluationRun run = Make();
  Do(run.Begin());
  const LeaseTable::Held held = Take(run);
  EXPECT_TRUE(*Score(run, 0, held.piece, {1, 2, 3}, true));
  const Lease lease = run.LeaseOf(held);
  EXPECT_TRUE(lease.Skips(0));
  EXPECT_FALSE(lease.Skips(1)) << "only half of this batch is scored";
  EXPECT_FALSE(*Score(run, 0, held.piece, {1, 2}, true)) << "all known";
}

TEST_F(EvaluationRunTest, WhatWasReadMustBeWhatWasScored) {
  for (const bool report_first : {true, false}) {
    EvaluationRun run = Make();
    Do(run.Begin());
    const PieceReport report{LeasePurpose::kEvaluate, 0, 0, 3, 0, 2, "", 0};
    if (report_first) {
      EXPECT_TRUE(*run.Learn(report));
      EXPECT_TRUE(run.CheckCount(0).ok()) << "not scored yet";
      EXPECT_TRUE(absl::IsDataLoss(Score(run, 0, 0, {1, 2}).status()));
    } else {
      EXPECT_TRUE(Score(run, 0, 0, {1, 2}).ok());
      EXPECT_TRUE(*run.Learn(report));
      EXPECT_TRUE(absl::IsDataLoss(run.CheckCount(0)));
    }
  }
}

TEST_F(EvaluationRunTest, ScoresOfOtherThingsAreRefused) {
  EvaluationRun run = Make();
  Do(run.Begin());
  EXPECT_TRUE(absl::IsInvalidArgument(Score(run, 1, 0, {1}).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(Score(run, 0, 2, {1}).status()));
  EXPECT_TRUE(absl::IsDataLoss(Score(run, 0, 0, {NAN}).status()));
}

// ---- An inference

TEST_F(EvaluationRunTest, PredictionsAreWrittenInOrderAndTheLastCompletesThem) {
  options_.task = JobTask::kInfer;
  EvaluationRun run = Make();
  Do(run.Begin());
  EXPECT_EQ(run.LeaseOf(Take(run)).purpose, LeasePurpose::kInfer);
  EXPECT_TRUE(*Score(run, 0, 1, {3}));
  EXPECT_THAT(written_, IsEmpty()) << "piece 0 is not there";
  CoordinatorActions actions;
  EXPECT_TRUE(
      *run.Take({0, 0, 0, {1, NAN}, {0, BadRowLabel(2)}}, 7, now_, &actions));
  Do(std::move(actions));
  ASSERT_THAT(written_, SizeIs(1));
  EXPECT_THAT(written_[0].logits, SizeIs(3));
  EXPECT_TRUE(written_[0].last);
  EXPECT_FALSE(Step(run, 0)) << "there is nothing to work out";
  run.OnWritten(3, true);
  JobReport report;
  run.Fill(&report);
  EXPECT_EQ(report.predicted, 3u);
  EXPECT_EQ(report.predicted_nan, 1u);
}

TEST_F(EvaluationRunTest, AScoreThatIsNotFiniteNamesItsRow) {
  options_.task = JobTask::kInfer;
  EvaluationRun run = Make();
  Do(run.Begin());
  EXPECT_THAT(Score(run, 0, 0, {1, NAN}).status().message(),
              HasSubstr("row 1 of evaluation piece 0 (e, bytes 0 to 50)"));
}

}  // namespace
}  // namespace shoal
