#ifndef SHOAL_CORE_LABEL_H_
#define SHOAL_CORE_LABEL_H_

#include <cstdint>

namespace shoal {

// The label of an example is one byte: one of 0 … C - 1 with
// C = ScoreMetrics::num_labels() (core/score_metrics.h), from 2 to kMostLabels.

// The label of a row that could not be parsed; the row's scores are NaN. It
// lies outside the labels of every objective. Only used with
// LeasePurpose::kInfer, where every row keeps its place and the labels of other
// rows have no meaning.
inline constexpr uint8_t kBadRowLabel = 255;

inline constexpr int kMostLabels = kBadRowLabel;

}  // namespace shoal

#endif  // SHOAL_CORE_LABEL_H_
