#include "cluster/evaluation.h"

#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status_macros.h"
#include "core/metrics.h"

namespace shoal {

Evaluation::Evaluation(uint32_t num_pieces, uint64_t exact_rows)
    : exact_rows_(exact_rows), sums_(num_pieces) {}

absl::Status Evaluation::Check(uint32_t piece, absl::Span<const float> logits,
                               absl::Span<const uint8_t> labels) {
  for (size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] > 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("evaluation piece ", piece, ": a label is ", labels[i]));
    }
    if (!std::isfinite(logits[i])) {
      return absl::DataLossError(absl::StrCat("evaluation piece ", piece,
                                              ": a score is ", logits[i],
                                              "; the model has diverged"));
    }
  }
  return absl::OkStatus();
}

absl::Status Evaluation::Add(uint32_t piece, std::vector<float> logits,
                             std::vector<uint8_t> labels) {
  SHOAL_DCHECK(logits.size() == labels.size());
  if (labels.empty()) return absl::OkStatus();
  if (histogram_ == nullptr && labels.size() > exact_rows_ - rows_) {
    histogram_ = std::make_unique<AucHistogram>();
    for (const Chunk& chunk : std::exchange(scores_, {})) {
      SHOAL_RETURN_IF_ERROR(histogram_->Add(chunk.logits, chunk.labels));
    }
  }
  if (histogram_ != nullptr) {
    SHOAL_RETURN_IF_ERROR(histogram_->Add(logits, labels));
  }
  Sums& sums = sums_[piece];
  for (size_t i = 0; i < labels.size(); ++i) {
    sums.logloss += LogLoss(logits[i], labels[i]);
    sums.predicted += Probability(logits[i]);
    sums.positives += labels[i];
  }
  rows_ += labels.size();
  if (histogram_ == nullptr) {
    scores_.push_back({std::move(logits), std::move(labels)});
  }
  return absl::OkStatus();
}

EvalReport Evaluation::Report() const {
  EvalReport report;
  report.examples = rows_;
  if (rows_ == 0) return report;
  Sums all;
  for (const Sums& piece : sums_) {
    all.logloss += piece.logloss;
    all.predicted += piece.predicted;
    all.positives += piece.positives;
  }
  report.logloss = all.logloss / static_cast<double>(rows_);
  if (all.positives != 0) {
    report.calibration = all.predicted / static_cast<double>(all.positives);
  }
  if (histogram_ != nullptr) {
    const AucEstimate estimate = histogram_->Estimate();
    report.auc = estimate.auc;
    report.auc_error = estimate.error;
    report.exact_auc = false;
    return report;
  }
  std::vector<ScoredExample> examples;
  examples.reserve(rows_);
  for (const Chunk& chunk : scores_) {
    for (size_t i = 0; i < chunk.labels.size(); ++i) {
      examples.push_back({chunk.logits[i], chunk.labels[i]});
    }
  }
  report.auc = ExactAuc(std::move(examples));
  return report;
}

}  // namespace shoal
