#ifndef SHOAL_WORKER_TRAIN_PROGRESS_METER_H_
#define SHOAL_WORKER_TRAIN_PROGRESS_METER_H_

#include <cstdint>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/types/span.h"
#include "base/mutex.h"
#include "core/score_metrics.h"
#include "core/session_messages.h"

namespace shoal {

// The training progress of one worker life, and the quality of its predictions
// on each batch before the batch is trained (progressive validation).
// Thread-safe: the train strand adds, the heartbeat reads.
class ProgressMeter {
 public:
  // The number of examples whose scores are kept for the recent AUC and
  // logloss.
  static constexpr size_t kRecentExamples = 16384;

  // `metrics` are the metrics of the model's objective and must outlive the
  // meter.
  explicit ProgressMeter(const ScoreMetrics* metrics) : metrics_(metrics) {}

  // Adds the scores of a batch from the forward pass of its training step.
  // logits: B × C, labels: B.
  void AddScores(absl::Span<const float> logits,
                 absl::Span<const uint8_t> labels);
  // Adds a batch of `examples` examples that all shards have applied.
  void AddTrained(uint64_t examples, double loss_sum);

  // Returns the progress so far, without the recent figures.
  TrainProgress Sums() const {
    MutexLock lock(&mu_);
    return sums_;
  }
  // Returns the progress so far. It sorts the recent examples, so call it once
  // per heartbeat.
  TrainProgress Snapshot() const;

 private:
  const ScoreMetrics* const metrics_;
  mutable Mutex mu_;
  TrainProgress sums_ ABSL_GUARDED_BY(mu_);
  // Rings of the newest scores, C per example, and their labels.
  std::vector<float> logits_ ABSL_GUARDED_BY(mu_);
  std::vector<uint8_t> labels_ ABSL_GUARDED_BY(mu_);
  size_t next_ ABSL_GUARDED_BY(mu_) = 0;  // example
};

}  // namespace shoal

#endif  // SHOAL_WORKER_TRAIN_PROGRESS_METER_H_
