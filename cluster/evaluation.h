#ifndef SHOAL_CLUSTER_EVALUATION_H_
#define SHOAL_CLUSTER_EVALUATION_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "cluster/job_report.h"
#include "core/auc_histogram.h"
#include "core/score_metrics.h"

namespace shoal {

// The scores of one evaluation, C scores a row, and the figures that the
// metrics of the model's objective make of them. Pieces may come in any order.
// Each row may be added once; ScoredRows knows which rows have come.
//
// The scores of up to `exact_rows` rows are kept for the exact AUC. For clicks
// a row takes 5 bytes, and 8 more while Report runs. If there are more rows,
// all scores go into a histogram instead, of 128 MiB at most, and the AUC has a
// bound on its error (core/auc_histogram.h). The other figures are exact either
// way, and do not depend on the order in which pieces come. Thread-compatible.
class Evaluation {
 public:
  // `metrics` outlives the evaluation.
  Evaluation(const ScoreMetrics* metrics, uint32_t num_pieces,
             uint64_t exact_rows);

  // The most memory that an evaluation of `rows` rows takes, in bytes.
  static uint64_t MemoryBytes(const ScoreMetrics& metrics, uint64_t rows,
                              uint64_t exact_rows);

  // OK if the scores can be added. Errors: INVALID_ARGUMENT (the metrics have
  // no such label), DATA_LOSS (a score is not finite). REQUIRES: C scores for
  // each label.
  static absl::Status Check(const ScoreMetrics& metrics, uint32_t piece,
                            absl::Span<const float> logits,
                            absl::Span<const uint8_t> labels);

  // Adds the next rows of a piece; `logits` is rows × C. REQUIRES: Check was
  // OK. RESOURCE_EXHAUSTED: more rows than the histogram takes.
  absl::Status Add(uint32_t piece, std::vector<float> logits,
                   std::vector<uint8_t> labels);

  // Fills in auc, auc_error, exact_auc, logloss, calibration and examples.
  // Takes O(n log n) time if the AUC is exact: not for a thread that others
  // wait for.
  EvalReport Report() const;

 private:
  struct Chunk {
    std::vector<float> logits;
    std::vector<uint8_t> labels;
  };

  absl::Status AddToHistogram(absl::Span<const float> logits,
                              absl::Span<const uint8_t> labels);
  void NoteLabels(absl::Span<const ScoredExample> ranked);

  const ScoreMetrics* metrics_;
  uint64_t exact_rows_;
  uint64_t rows_ = 0;
  // By piece; the rows of a piece always come in their order.
  std::vector<ScoreSums> sums_;
  std::vector<Chunk> scores_;  // while there are at most exact_rows_ rows
  std::unique_ptr<AucHistogram> histogram_;  // once there are more
  bool has_label_[2] = {false, false};       // in the histogram
};

}  // namespace shoal

#endif  // SHOAL_CLUSTER_EVALUATION_H_
