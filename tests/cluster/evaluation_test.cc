#include "cluster/evaluation.h"

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "core/metrics.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

EvalResult Result(uint32_t piece, std::vector<float> logits,
                  std::vector<uint8_t> labels, uint32_t epoch = 0) {
  return {1, epoch, piece, std::move(logits), std::move(labels)};
}

TEST(EvaluationTest, ReportsOverAllPieces) {
  Evaluation evaluation(0, 2, 100);
  ASSERT_TRUE(evaluation.Add(Result(1, {2, -1}, {1, 0})).ok());
  EXPECT_FALSE(evaluation.complete());
  ASSERT_TRUE(evaluation.Add(Result(0, {0.5f}, {0})).ok());
  ASSERT_TRUE(evaluation.complete());
  const EvalReport report = evaluation.Report();
  EXPECT_EQ(report.examples, 3u);
  EXPECT_DOUBLE_EQ(report.auc, 1.0);
  EXPECT_DOUBLE_EQ(report.logloss, MeanLogLoss(std::vector<float>{0.5f, 2, -1},
                                               std::vector<uint8_t>{0, 1, 0}));
}

TEST(EvaluationTest, ASecondResultReplacesTheFirst) {
  Evaluation evaluation(0, 1, 3);
  ASSERT_TRUE(evaluation.Add(Result(0, {1, 2, 3}, {1, 0, 0})).ok());
  ASSERT_TRUE(evaluation.Add(Result(0, {1, 0}, {1, 0})).ok())
      << "the replaced scores count no more";
  EXPECT_EQ(evaluation.examples(0), 2u);
  EXPECT_EQ(evaluation.Report().examples, 2u);
  EXPECT_DOUBLE_EQ(evaluation.Report().auc, 1.0);
}

TEST(EvaluationTest, AnEmptyPieceIsAResultToo) {
  Evaluation evaluation(0, 1, 3);
  EXPECT_FALSE(evaluation.has(0));
  ASSERT_TRUE(evaluation.Add(Result(0, {}, {})).ok());
  EXPECT_TRUE(evaluation.complete());
  EXPECT_EQ(evaluation.Report().examples, 0u);
}

TEST(EvaluationTest, RefusesMoreThanItMayKeep) {
  Evaluation evaluation(0, 2, 3);
  ASSERT_TRUE(evaluation.Add(Result(0, {1, 2}, {1, 0})).ok());
  EXPECT_EQ(evaluation.Add(Result(1, {1, 2}, {1, 0})).code(),
            absl::StatusCode::kResourceExhausted);
}

TEST(EvaluationTest, RefusesWhatIsNoResult) {
  Evaluation evaluation(3, 2, 100);
  const auto invalid = absl::StatusCode::kInvalidArgument;
  EXPECT_EQ(evaluation.Add(Result(0, {1}, {1}, 2)).code(), invalid);
  EXPECT_EQ(evaluation.Add(Result(2, {1}, {1}, 3)).code(), invalid);
  EXPECT_EQ(evaluation.Add(Result(0, {1, 2}, {1}, 3)).code(), invalid);
  EXPECT_EQ(evaluation.Add(Result(0, {1}, {2}, 3)).code(), invalid);
  EXPECT_EQ(evaluation.Add(Result(0, {std::nanf("")}, {1}, 3)).code(),
            absl::StatusCode::kDataLoss);
  EXPECT_EQ(
      evaluation
          .Add(Result(0, {std::numeric_limits<float>::infinity()}, {1}, 3))
          .code(),
      absl::StatusCode::kDataLoss);
  EXPECT_FALSE(evaluation.has(0));
}

}  // namespace
}  // namespace shoal
