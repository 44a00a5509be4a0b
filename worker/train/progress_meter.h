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

// What one worker life has trained, and how well it predicted what it was about
// to be trained on (progressive validation). Thread-safe: the train strand
// adds, the heartbeat reads.
class ProgressMeter {
 public:
  // Examples whose scores are kept for the recent AUC and logloss.
  static constexpr size_t kRecentExamples = 16384;

  // `metrics` are those of the model's objective, and outlive it.
  explicit ProgressMeter(const ScoreMetrics* metrics) : metrics_(metrics) {}

  // A batch was scored by the forward pass of its training step. logits: B × C,
  // labels: B.
  void AddScores(absl::Span<const float> logits,
                 absl::Span<const uint8_t> labels);
  // All shards have applied a batch of so many examples.
  void AddTrained(uint64_t examples, double loss_sum);

  // Costs a sort of the recent examples; call it once a heartbeat.
  TrainProgress Snapshot() const;

 private:
  const ScoreMetrics* const metrics_;
  mutable Mutex mu_;
  TrainProgress sums_ ABSL_GUARDED_BY(mu_);
  // Rings of the newest scores, C an example, and labels.
  std::vector<float> logits_ ABSL_GUARDED_BY(mu_);
  std::vector<uint8_t> labels_ ABSL_GUARDED_BY(mu_);
  size_t next_ ABSL_GUARDED_BY(mu_) = 0;  // example
};

}  // namespace shoal

#endif  // SHOAL_WORKER_TRAIN_PROGRESS_METER_H_
