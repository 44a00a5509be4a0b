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

// The scores of one evaluation, C of each row, which come in any order of
// pieces, and what they say of the model: as the metrics of its objective
// judge them. It takes each row once: which have come is ScoredRows' business.
//
// The scores of up to `exact_rows` rows are kept, for clicks 5 bytes each (and
// 8 more each while they are reported on), for the exact AUC. With one more
// they go into a histogram and are forgotten: 128 MiB at most, however many
// rows, and an AUC with a bound on its error (core/auc_histogram.h). The other
// figures are exact either way, and do not depend on the order in which pieces
// come. Thread-compatible.
class Evaluation {
 public:
  // `metrics` outlives it.
  Evaluation(const ScoreMetrics* metrics, uint32_t num_pieces,
             uint64_t exact_rows);

  // What an evaluation of so many rows holds at most.
  static uint64_t MemoryBytes(const ScoreMetrics& metrics, uint64_t rows,
                              uint64_t exact_rows);

  // OK if the scores, C a label, can be added. INVALID_ARGUMENT: a label is not
  // one of the metrics'. DATA_LOSS: a score is not finite. REQUIRES: as many as
  // labels say.
  static absl::Status Check(const ScoreMetrics& metrics, uint32_t piece,
                            absl::Span<const float> logits,
                            absl::Span<const uint8_t> labels);

  // The next rows of a piece, logits rows × C. REQUIRES: checked.
  // RESOURCE_EXHAUSTED: more than the histogram takes.
  absl::Status Add(uint32_t piece, std::vector<float> logits,
                   std::vector<uint8_t> labels);

  // auc, auc_error, exact_auc, logloss, calibration and examples. O(n log n)
  // where exact: not for a thread that others wait for.
  EvalReport Report() const;

 private:
  struct Chunk {
    std::vector<float> logits;
    std::vector<uint8_t> labels;
  };

  absl::Status AddToHistogram(absl::Span<const float> logits,
                              absl::Span<const uint8_t> labels);

  const ScoreMetrics* metrics_;
  uint64_t exact_rows_;
  uint64_t rows_ = 0;
  // By piece, whose rows always come in their order.
  std::vector<ScoreSums> sums_;
  std::vector<Chunk> scores_;  // while there are no more than exact_rows_
  std::unique_ptr<AucHistogram> histogram_;  // from then on
};

}  // namespace shoal

#endif  // SHOAL_CLUSTER_EVALUATION_H_
