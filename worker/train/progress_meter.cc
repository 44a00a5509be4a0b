#include "worker/train/progress_meter.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "core/metrics.h"

namespace shoal {

void ProgressMeter::AddScores(absl::Span<const float> logits,
                              absl::Span<const uint8_t> labels) {
  const size_t C = metrics_->num_scores();
  SHOAL_DCHECK(logits.size() == labels.size() * C);
  MutexLock lock(&mu_);
  for (size_t i = 0; i < labels.size(); ++i) {
    const auto scores = logits.subspan(i * C, C);
    if (labels_.size() < kRecentExamples) {
      logits_.insert(logits_.end(), scores.begin(), scores.end());
      labels_.push_back(labels[i]);
    } else {
      std::copy(scores.begin(), scores.end(), logits_.begin() + next_ * C);
      labels_[next_] = labels[i];
      next_ = (next_ + 1) % kRecentExamples;
    }
  }
}

void ProgressMeter::AddTrained(uint64_t examples, double loss_sum) {
  MutexLock lock(&mu_);
  sums_.examples += examples;
  sums_.batches += 1;
  sums_.loss_sum += loss_sum;
}

TrainProgress ProgressMeter::Snapshot() const {
  TrainProgress progress;
  std::vector<float> logits;
  std::vector<uint8_t> labels;
  {
    MutexLock lock(&mu_);
    progress = sums_;
    logits = logits_;
    labels = labels_;
  }
  progress.recent_examples = labels.size();
  std::vector<ScoredExample> ranked;
  ranked.reserve(labels.size() * metrics_->num_ranked());
  metrics_->AppendRanked(logits, labels, &ranked);
  progress.recent_auc = HaveAuc(ranked) ? ExactAuc(std::move(ranked)) : 0;
  ScoreSums sums;
  metrics_->Sum(logits, labels, &sums);
  if (!labels.empty()) {
    progress.recent_logloss = sums.loss / static_cast<double>(labels.size());
  }
  return progress;
}

}  // namespace shoal
