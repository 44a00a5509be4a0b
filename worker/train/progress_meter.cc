#include "worker/train/progress_meter.h"

#include "core/metrics.h"

namespace shoal {

void ProgressMeter::AddScores(absl::Span<const float> logits,
                              absl::Span<const uint8_t> labels) {
  MutexLock lock(&mu_);
  for (size_t i = 0; i < logits.size(); ++i) {
    if (logits_.size() < kRecentExamples) {
      logits_.push_back(logits[i]);
      labels_.push_back(labels[i]);
    } else {
      logits_[next_] = logits[i];
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
  progress.recent_examples = logits.size();
  progress.recent_auc = ExactAuc(logits, labels);
  progress.recent_logloss = MeanLogLoss(logits, labels);
  return progress;
}

}  // namespace shoal
