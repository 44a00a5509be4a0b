#include "cluster/evaluation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/saturating.h"
#include "base/status_macros.h"
#include "core/metrics.h"

namespace shoal {
namespace {

// The AUC of examples with one label only.
constexpr double kNoAuc = std::numeric_limits<double>::quiet_NaN();

}  // namespace

Evaluation::Evaluation(const ScoreMetrics* metrics, uint32_t num_pieces,
                       uint64_t exact_rows)
    : metrics_(metrics), exact_rows_(exact_rows), sums_(num_pieces) {}

uint64_t Evaluation::MemoryBytes(const ScoreMetrics& metrics, uint64_t rows,
                                 uint64_t exact_rows) {
  const uint64_t kept = metrics.num_scores() * sizeof(float) + sizeof(uint8_t);
  const uint64_t reported = metrics.num_ranked() * sizeof(ScoredExample);
  return SaturatingAdd(
      SaturatingTimes(std::min(rows, exact_rows), kept + reported),
      rows > exact_rows ? AucHistogram::kMemoryBytes : 0);
}

absl::Status Evaluation::Check(const ScoreMetrics& metrics, uint32_t piece,
                               absl::Span<const float> logits,
                               absl::Span<const uint8_t> labels) {
  SHOAL_DCHECK(logits.size() == labels.size() * metrics.num_scores());
  for (const uint8_t label : labels) {
    if (label >= metrics.num_labels()) {
      return absl::InvalidArgumentError(
          absl::StrCat("evaluation piece ", piece, ": a label is ", label));
    }
  }
  for (const float logit : logits) {
    if (!std::isfinite(logit)) {
      return absl::DataLossError(absl::StrCat("evaluation piece ", piece,
                                              ": a score is ", logit,
                                              "; the model has diverged"));
    }
  }
  return absl::OkStatus();
}

absl::Status Evaluation::Add(uint32_t piece, std::vector<float> logits,
                             std::vector<uint8_t> labels) {
  SHOAL_DCHECK(Check(*metrics_, piece, logits, labels).ok());
  if (labels.empty()) return absl::OkStatus();
  if (histogram_ == nullptr && labels.size() > exact_rows_ - rows_) {
    histogram_ = std::make_unique<AucHistogram>();
    for (const Chunk& chunk : std::exchange(scores_, {})) {
      SHOAL_RETURN_IF_ERROR(AddToHistogram(chunk.logits, chunk.labels));
    }
  }
  if (histogram_ != nullptr) {
    SHOAL_RETURN_IF_ERROR(AddToHistogram(logits, labels));
  }
  metrics_->Sum(logits, labels, &sums_[piece]);
  rows_ += labels.size();
  if (histogram_ == nullptr) {
    scores_.push_back({std::move(logits), std::move(labels)});
  }
  return absl::OkStatus();
}

absl::Status Evaluation::AddToHistogram(absl::Span<const float> logits,
                                        absl::Span<const uint8_t> labels) {
  std::vector<ScoredExample> ranked;
  ranked.reserve(labels.size() * metrics_->num_ranked());
  metrics_->AppendRanked(logits, labels, &ranked);
  NoteLabels(ranked);
  return histogram_->Add(ranked);
}

void Evaluation::NoteLabels(absl::Span<const ScoredExample> ranked) {
  for (const ScoredExample& example : ranked) {
    has_label_[example.label != 0 ? 1 : 0] = true;
  }
}

EvalReport Evaluation::Report() const {
  EvalReport report;
  report.examples = rows_;
  if (rows_ == 0) return report;
  ScoreSums all;
  for (const ScoreSums& piece : sums_) {
    all.loss += piece.loss;
    all.predicted += piece.predicted;
    all.positives += piece.positives;
  }
  report.logloss = all.loss / static_cast<double>(rows_);
  if (all.positives != 0) {
    report.calibration = all.predicted / static_cast<double>(all.positives);
  }
  if (histogram_ != nullptr) {
    const AucEstimate estimate = histogram_->Estimate();
    report.auc = has_label_[0] && has_label_[1] ? estimate.auc : kNoAuc;
    report.auc_error = estimate.error;
    report.exact_auc = false;
    return report;
  }
  std::vector<ScoredExample> ranked;
  ranked.reserve(rows_ * metrics_->num_ranked());
  for (const Chunk& chunk : scores_) {
    metrics_->AppendRanked(chunk.logits, chunk.labels, &ranked);
  }
  report.auc = HaveAuc(ranked) ? ExactAuc(std::move(ranked)) : kNoAuc;
  return report;
}

}  // namespace shoal
