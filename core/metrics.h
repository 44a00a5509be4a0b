#ifndef SHOAL_CORE_METRICS_H_
#define SHOAL_CORE_METRICS_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace shoal {

// Area under the ROC curve: the chance that a random positive example has a
// higher score than a random negative one, ties counting half. Exact, by ranks
// (Mann-Whitney U). Each score has one label, 0 or 1. Returns 0.5 if one class
// is missing, since nothing can be ranked then. A NaN score counts as the
// lowest. O(n log n); copies its input.
double ExactAuc(absl::Span<const float> scores,
                absl::Span<const uint8_t> labels);

// The same for examples that the caller gives away; sorts them in place.
// REQUIRES: no score is NaN.
struct ScoredExample {
  float score = 0;
  uint8_t label = 0;
};
double ExactAuc(std::vector<ScoredExample> examples);

// True if both labels are there, so that the examples have an AUC.
bool HaveAuc(absl::Span<const ScoredExample> examples);

// log(1 + exp(z)) - y z, in double, without overflow.
double LogLoss(float logit, uint8_t label);

// 1 / (1 + exp(-z)), in double, without overflow.
double Probability(float logit);

// Mean of log(1 + exp(z)) - y z over the examples, in double, without overflow.
// 0 for no examples.
double MeanLogLoss(absl::Span<const float> logits,
                   absl::Span<const uint8_t> labels);

}  // namespace shoal

#endif  // SHOAL_CORE_METRICS_H_
