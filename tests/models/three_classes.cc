#include "tests/models/three_classes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "models/layers/loss.h"

namespace shoal {
namespace {

constexpr int C = ThreeClassMetrics::kClasses;

double LogSumExp(absl::Span<const float> scores) {
  const double most = *std::max_element(scores.begin(), scores.end());
  double sum = 0;
  for (const float score : scores) sum += std::exp(score - most);
  return most + std::log(sum);
}

std::array<double, C> Softmax(absl::Span<const float> scores) {
  const double log_sum = LogSumExp(scores);
  std::array<double, C> p;
  for (int c = 0; c < C; ++c) p[c] = std::exp(scores[c] - log_sum);
  return p;
}

class SoftmaxRegression final : public Model {
 public:
  SoftmaxRegression(ModelSpec spec, const Objective* objective,
                    Backend* backend)
      : spec_(std::move(spec)), loss_(objective, backend) {}

  const ModelSpec& spec() const override { return spec_; }
  const Objective& objective() const override { return loss_.objective(); }

  void Predict(const ModelInput& input, absl::Span<float> logits) override {
    const TableInput& table = input.tables[0];
    for (int b = 0; b < input.batch_size; ++b) {
      for (int c = 0; c < C; ++c) logits[b * C + c] = input.dense[c];
      for (int j = 0; j < input.field_size; ++j) {
        const int at = b * input.field_size + j;
        const int row = table.row_index[at];
        if (row < 0) continue;
        for (int c = 0; c < C; ++c) {
          logits[b * C + c] += table.rows[row * C + c] * input.values[at];
        }
      }
    }
  }

  void ForwardBackward(const ModelInput& input, ModelOutput* output) override {
    Predict(input, output->logits);
    output->loss_sum = loss_.Forward(output->logits, input.labels);
    const absl::Span<float> d_scores =
        loss_.Backward(output->logits, input.labels, input.loss_divisor);
    const absl::Span<float> d_rows = output->d_rows[0];
    std::fill(d_rows.begin(), d_rows.end(), 0.0f);
    std::fill(output->d_dense.begin(), output->d_dense.end(), 0.0f);
    for (size_t at = 0; at < input.values.size(); ++at) {
      const int row = input.tables[0].row_index[at];
      if (row < 0) continue;
      const float* d = &d_scores[at / input.field_size * C];
      for (int c = 0; c < C; ++c)
        d_rows[row * C + c] += d[c] * input.values[at];
    }
    for (size_t i = 0; i < d_scores.size(); ++i) {
      output->d_dense[i % C] += d_scores[i];
    }
    output->TellFinal(output->d_dense);
  }

 private:
  const ModelSpec spec_;
  LossLayer loss_;
};

ModelSpec SpecOf(const ModelOptions& options) {
  ModelSpec spec;
  spec.model = options.model;
  spec.seed = options.seed;
  spec.tables = {{"classes",
                  options.feature_size,
                  {{"class_w", C, options.table_optimizer, {}}}}};
  spec.dense = {{"class_b", {C}, options.dense_optimizer, {}}};
  return spec;
}

}  // namespace

void ThreeClassMetrics::Sum(absl::Span<const float> scores,
                            absl::Span<const uint8_t> labels,
                            ScoreSums* sums) const {
  for (size_t i = 0; i < labels.size(); ++i) {
    const auto of_row = scores.subspan(i * C, C);
    sums->loss += LogSumExp(of_row) - of_row[labels[i]];
  }
}

void ThreeClassMetrics::AppendRanked(absl::Span<const float> scores,
                                     absl::Span<const uint8_t> labels,
                                     std::vector<ScoredExample>* ranked) const {
  for (size_t i = 0; i < labels.size(); ++i) {
    const auto p = Softmax(scores.subspan(i * C, C));
    for (int c = 0; c < C; ++c) {
      ranked->push_back({std::isnan(p[c])
                             ? -std::numeric_limits<float>::infinity()
                             : static_cast<float>(p[c]),
                         static_cast<uint8_t>(labels[i] == c)});
    }
  }
}

void ThreeClassMetrics::Predict(absl::Span<const float> scores,
                                absl::Span<float> predictions) const {
  for (size_t i = 0; i < scores.size(); i += C) {
    const auto p = Softmax(scores.subspan(i, C));
    std::copy(p.begin(), p.end(), predictions.begin() + i);
  }
}

double ThreeClassObjective::Loss(absl::Span<const float> scores,
                                 absl::Span<const uint8_t> labels,
                                 Backend*) const {
  ScoreSums sums;
  kThreeClassMetrics.Sum(scores, labels, &sums);
  return sums.loss;
}

void ThreeClassObjective::LossGradient(absl::Span<const float> scores,
                                       absl::Span<const uint8_t> labels,
                                       float scale, Backend*,
                                       absl::Span<float> d_scores) const {
  kThreeClassMetrics.Predict(scores, d_scores);
  for (size_t i = 0; i < labels.size(); ++i) d_scores[i * C + labels[i]] -= 1;
  for (float& d : d_scores) d *= scale;
}

const ModelKind& ThreeClassModel() {
  static constexpr ModelKind kKind = {
      "three_classes",
      /*has_embeddings=*/false,
      &kThreeClassObjective,
      [](const ModelOptions&) { return absl::OkStatus(); },
      SpecOf,
      [](const ModelOptions&, ModelSpec spec, const Objective* objective,
         Backend* backend) -> std::unique_ptr<Model> {
        return std::make_unique<SoftmaxRegression>(std::move(spec), objective,
                                                   backend);
      },
      [](const ModelOptions&, int batch_size, uint64_t) {
        return uint64_t(batch_size) * C * sizeof(float);
      }};
  return kKind;
}

}  // namespace shoal
