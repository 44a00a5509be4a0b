#include "core/metrics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "base/check.h"

namespace shoal {

double ExactAuc(absl::Span<const float> scores,
                absl::Span<const uint8_t> labels) {
  constexpr float kLowest = -std::numeric_limits<float>::infinity();
  std::vector<ScoredExample> examples(scores.size());
  for (size_t i = 0; i < scores.size(); ++i) {
    // NaN has no order: it would break the sort and never tie with itself.
    examples[i] = {std::isnan(scores[i]) ? kLowest : scores[i], labels[i]};
  }
  return ExactAuc(std::move(examples));
}

double ExactAuc(std::vector<ScoredExample> examples) {
  SHOAL_DCHECK(std::none_of(
      examples.begin(), examples.end(),
      [](const ScoredExample& e) { return std::isnan(e.score); }));
  std::sort(examples.begin(), examples.end(),
            [](const ScoredExample& a, const ScoredExample& b) {
              return a.score < b.score;
            });
  double pairs_won = 0;
  double negatives_below = 0;
  double positives = 0;
  for (size_t i = 0; i < examples.size();) {
    double tied_positives = 0;
    double tied_negatives = 0;
    const float score = examples[i].score;
    for (; i < examples.size() && examples[i].score == score; ++i) {
      (examples[i].label != 0 ? tied_positives : tied_negatives) += 1;
    }
    pairs_won += tied_positives * (negatives_below + tied_negatives / 2);
    negatives_below += tied_negatives;
    positives += tied_positives;
  }
  if (positives == 0 || negatives_below == 0) return 0.5;
  return pairs_won / (positives * negatives_below);
}

bool HaveAuc(absl::Span<const ScoredExample> examples) {
  const auto is_one = [](const ScoredExample& e) { return e.label != 0; };
  const auto ones =
      std::count_if(examples.begin(), examples.end(), is_one);
  return ones != 0 && static_cast<size_t>(ones) != examples.size();
}

double LogLoss(float logit, uint8_t label) {
  const double z = logit;
  return std::max(z, 0.0) + std::log1p(std::exp(-std::abs(z))) -
         (label != 0 ? z : 0.0);
}

double Probability(float logit) {
  // exp of a number that is not positive cannot overflow.
  const double e = std::exp(-std::abs(static_cast<double>(logit)));
  return logit >= 0 ? 1 / (1 + e) : e / (1 + e);
}

double MeanLogLoss(absl::Span<const float> logits,
                   absl::Span<const uint8_t> labels) {
  double sum = 0;
  for (size_t i = 0; i < logits.size(); ++i) {
    sum += LogLoss(logits[i], labels[i]);
  }
  return logits.empty() ? 0 : sum / static_cast<double>(logits.size());
}

}  // namespace shoal
