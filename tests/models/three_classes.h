#ifndef SHOAL_TESTS_MODELS_THREE_CLASSES_H_
#define SHOAL_TESTS_MODELS_THREE_CLASSES_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "models/model_table.h"
#include "models/objective.h"

namespace shoal {

// A second objective, which only tests use. It shows that a new objective needs
// only the objective, its metrics and a model's row. Three classes; the loss is
// the softmax cross entropy (Bridle, 1990) of the scores s, with the label y:
//   loss      log Σ_c exp(s_c) − s_y
//   gradient  p_c − [c = y],  p = softmax(s)
// The AUC is the micro-averaged one of one class against the rest: it ranks
// (p_c, c = y) of every class. There is no calibration. Predictions are p.
class ThreeClassMetrics final : public ScoreMetrics {
 public:
  static constexpr int kClasses = 3;

  int num_scores() const override { return kClasses; }
  int num_labels() const override { return kClasses; }
  void Sum(absl::Span<const float> scores, absl::Span<const uint8_t> labels,
           ScoreSums* sums) const override;
  int num_ranked() const override { return kClasses; }
  void AppendRanked(absl::Span<const float> scores,
                    absl::Span<const uint8_t> labels,
                    std::vector<ScoredExample>* ranked) const override;
  void Predict(absl::Span<const float> scores,
               absl::Span<float> predictions) const override;
};
inline constexpr ThreeClassMetrics kThreeClassMetrics{};

class ThreeClassObjective final : public Objective {
 public:
  constexpr ThreeClassObjective()
      : Objective("three_classes", &kThreeClassMetrics) {}
  double Loss(absl::Span<const float> scores, absl::Span<const uint8_t> labels,
              Backend* backend) const override;
  void LossGradient(absl::Span<const float> scores,
                    absl::Span<const uint8_t> labels, float scale,
                    Backend* backend,
                    absl::Span<float> d_scores) const override;
};
inline constexpr ThreeClassObjective kThreeClassObjective{};

// The row of softmax regression, s_c = b_c + Σ_j w_c[id_j] x_j: table "classes"
// with the column "class_w" (3), dense "class_b" [3], zeros at first.
const ModelKind& ThreeClassModel();

}  // namespace shoal

#endif  // SHOAL_TESTS_MODELS_THREE_CLASSES_H_
