#include "tests/models/three_classes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "models/backend/reference_backend.h"
#include "tests/models/numeric.h"
#include "tests/models/sample_batch.h"

namespace shoal {
namespace {

constexpr int C = ThreeClassMetrics::kClasses;

std::vector<uint8_t> Labels(size_t count) {
  std::vector<uint8_t> labels;
  for (size_t i = 0; i < count; ++i) labels.push_back(i * 7 % C);
  return labels;
}

// −log p_y, as it is defined.
double Expected(const std::vector<double>& scores,
                const std::vector<uint8_t>& labels) {
  double sum = 0;
  for (size_t i = 0; i < labels.size(); ++i) {
    double all = 0;
    for (int c = 0; c < C; ++c) all += std::exp(scores[i * C + c]);
    sum -= std::log(std::exp(scores[i * C + labels[i]]) / all);
  }
  return sum;
}

TEST(ThreeClassObjectiveTest, IsTheDefinitionAndItsNumericGradient) {
  ReferenceBackend backend;
  const auto scores = RandomVector(5, 11 * C, 3);
  const auto labels = Labels(11);
  const auto mean = [&](const std::vector<double>& s) {
    return Expected(s, labels) / 11;
  };
  EXPECT_NEAR(kThreeClassObjective.Loss(scores, labels, &backend) / 11,
              mean(ToDouble(scores)), 1e-12);
  std::vector<float> d_scores(scores.size());
  kThreeClassObjective.LossGradient(scores, labels, 1.0f / 11, &backend,
                                    absl::MakeSpan(d_scores));
  EXPECT_LT(RelativeError(d_scores, NumericGradient(mean, ToDouble(scores))),
            1e-6);
}

TEST(ThreeClassModelTest, TrainsByAGradientOfThreeScoresAnExample) {
  ReferenceBackend backend;
  const ModelKind& kind = ThreeClassModel();
  ModelOptions options;
  options.feature_size = 9;
  const auto model =
      kind.create(options, kind.spec(options), kind.objective, &backend);
  SampleBatch batch(model->spec(), 6, 4, 9, /*seed=*/3);
  batch.logits.resize(6 * C);
  batch.labels = Labels(6);
  const double loss = batch.ForwardBackward(model.get());
  const auto mean_of = [&](const std::vector<double>& rows,
                           const std::vector<double>& dense) {
    std::vector<double> scores;
    for (int i = 0; i < 6 * C; ++i) {
      double score = dense[i % C];
      for (int j = 0; j < 4; ++j) {
        const int at = i / C * 4 + j;
        if (batch.row_index[at] < 0) continue;
        score += rows[batch.row_index[at] * C + i % C] * batch.values[at];
      }
      scores.push_back(score);
    }
    return Expected(scores, batch.labels) / 6;
  };
  const auto rows = ToDouble(batch.rows);
  const auto dense = ToDouble(batch.dense);
  EXPECT_NEAR(loss / 6, mean_of(rows, dense), 1e-6);
  EXPECT_LT(RelativeError(
                batch.d_rows,
                NumericGradient(
                    [&](const auto& r) { return mean_of(r, dense); }, rows)),
            1e-5);
  EXPECT_LT(RelativeError(
                batch.d_dense,
                NumericGradient([&](const auto& d) { return mean_of(rows, d); },
                                dense)),
            1e-5);
}

}  // namespace
}  // namespace shoal
