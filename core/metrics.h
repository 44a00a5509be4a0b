#ifndef SHOAL_CORE_METRICS_H_
#define SHOAL_CORE_METRICS_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace shoal {

// Area under the ROC curve: the chance that a random positive example has a
// higher score than a random negative one, ties counting half. Exact, by ranks
// (Mann-Whitney U). labels are 0 or 1, one a score. 0.5 where one class is
// missing, as then nothing can be ranked. A score that is not a number counts
// as the lowest. O(n log n), copies its input.
double ExactAuc(absl::Span<const float> scores,
                absl::Span<const uint8_t> labels);

// The same of examples that are given away, in their own memory. No score is
// NaN.
struct ScoredExample {
  float score = 0;
  uint8_t label = 0;
};
double ExactAuc(std::vector<ScoredExample> examples);

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
