#include "cluster/evaluation.h"

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "base/philox.h"
#include "core/binary_metrics.h"
#include "core/metrics.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

struct Scores {
  std::vector<float> logits;
  std::vector<uint8_t> labels;
};

Scores SomeScores(uint64_t seed, size_t count) {
  Scores scores;
  for (size_t i = 0; i < count; ++i) {
    const Philox::Block r = Philox(seed)(1, i);
    scores.logits.push_back(static_cast<float>(r[0]) * 0x1p-30f - 3);
    scores.labels.push_back(r[1] % 3 == 0);
  }
  return scores;
}

TEST(EvaluationTest, ReportsOverAllPieces) {
  Evaluation evaluation(&kBinaryMetrics, 2, 100);
  ASSERT_TRUE(evaluation.Add(1, {2, -1}, {1, 0}).ok());
  ASSERT_TRUE(evaluation.Add(0, {0.5f}, {0}).ok());
  const EvalReport report = evaluation.Report();
  EXPECT_EQ(report.examples, 3u);
  EXPECT_TRUE(report.exact_auc);
  EXPECT_EQ(report.auc_error, 0);
  EXPECT_DOUBLE_EQ(report.auc, 1.0);
  EXPECT_DOUBLE_EQ(report.logloss, MeanLogLoss(std::vector<float>{0.5f, 2, -1},
                                               std::vector<uint8_t>{0, 1, 0}));
  // One label of three is 1.
  EXPECT_DOUBLE_EQ(report.calibration,
                   Probability(0.5f) + Probability(2) + Probability(-1));
}

TEST(EvaluationTest, BeyondTheLimitTheAucHasABoundOnItsError) {
  const Scores scores = SomeScores(1, 3000);
  Evaluation exact(&kBinaryMetrics, 1, 3000);
  ASSERT_TRUE(exact.Add(0, scores.logits, scores.labels).ok());
  Evaluation bounded(&kBinaryMetrics, 1, 2999);
  // What was kept goes into the histogram too.
  for (size_t i = 0; i < 3000; i += 500) {
    const auto part = [i](const auto& all) {
      const auto begin = all.begin() + static_cast<ptrdiff_t>(i);
      return std::decay_t<decltype(all)>(begin, begin + 500);
    };
    ASSERT_TRUE(bounded.Add(0, part(scores.logits), part(scores.labels)).ok());
  }
  EXPECT_TRUE(exact.Report().exact_auc);
  const EvalReport report = bounded.Report();
  EXPECT_FALSE(report.exact_auc);
  EXPECT_LE(std::abs(report.auc - exact.Report().auc),
            report.auc_error + 1e-12);
  EXPECT_LT(report.auc_error, 1e-4);
  EXPECT_EQ(report.examples, 3000u);
  EXPECT_EQ(report.logloss, exact.Report().logloss);
  EXPECT_EQ(report.calibration, exact.Report().calibration);
}

TEST(EvaluationTest, TheOrderInWhichPiecesComeChangesNothing) {
  Evaluation one(&kBinaryMetrics, 3, 10'000);
  Evaluation other(&kBinaryMetrics, 3, 10'000);
  for (const uint32_t piece : {0u, 1u, 2u}) {
    const Scores scores = SomeScores(piece, 1000);
    ASSERT_TRUE(one.Add(piece, scores.logits, scores.labels).ok());
    const Scores last = SomeScores(2 - piece, 1000);
    ASSERT_TRUE(other.Add(2 - piece, last.logits, last.labels).ok());
  }
  EXPECT_EQ(one.Report().auc, other.Report().auc);
  EXPECT_EQ(one.Report().logloss, other.Report().logloss);
  EXPECT_EQ(one.Report().calibration, other.Report().calibration);
}

TEST(EvaluationTest, LabelsOfOneClassHaveNoAucAndMayHaveNoCalibration) {
  Evaluation evaluation(&kBinaryMetrics, 1, 10);
  ASSERT_TRUE(evaluation.Add(0, {1, 2}, {0, 0}).ok());
  EXPECT_TRUE(std::isnan(evaluation.Report().auc));
  EXPECT_EQ(evaluation.Report().calibration, 0);
  EXPECT_EQ(Evaluation(&kBinaryMetrics, 1, 10).Report().examples, 0u);
}

TEST(EvaluationTest, RefusesWhatIsNoResult) {
  EXPECT_TRUE(Evaluation::Check(kBinaryMetrics, 0, {1, 2}, {1, 0}).ok());
  EXPECT_EQ(Evaluation::Check(kBinaryMetrics, 0, {1}, {2}).code(),
            absl::StatusCode::kInvalidArgument);
  for (const float bad :
       {std::nanf(""), std::numeric_limits<float>::infinity()}) {
    EXPECT_EQ(Evaluation::Check(kBinaryMetrics, 0, {bad}, {1}).code(),
              absl::StatusCode::kDataLoss);
  }
}

}  // namespace
}  // namespace shoal
