#ifndef SHOAL_CORE_LABEL_H_
#define SHOAL_CORE_LABEL_H_

#include <cstdint>

namespace shoal {

// The label of an example is one byte: one of 0 … C - 1 with
// C = ScoreMetrics::num_labels() (core/score_metrics.h), from 2 to kMostLabels.

inline constexpr int kMostLabels = 255;

// The label of a row that could not be parsed; the row's scores are NaN. It is
// the number after the last label, 2 for two labels. Only used with
// LeasePurpose::kInfer, where every row keeps its place and the labels of other
// rows have no meaning. REQUIRES: num_labels <= kMostLabels.
inline constexpr uint8_t BadRowLabel(int num_labels) {
  return static_cast<uint8_t>(num_labels);
}

}  // namespace shoal

#endif  // SHOAL_CORE_LABEL_H_
