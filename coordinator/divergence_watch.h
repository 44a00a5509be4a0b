#ifndef SHOAL_COORDINATOR_DIVERGENCE_WATCH_H_
#define SHOAL_COORDINATOR_DIVERGENCE_WATCH_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>

#include "core/ids.h"
#include "core/session_messages.h"

namespace shoal {

// The verdict that a run has diverged.
struct Divergence {
  std::string why;       // "60 of its newest 100 batches were rejected, …"
  uint64_t batches = 0;  // the newest batches, on which the verdict rests
};

// Watches whether training has diverged, from what the processes tell: the
// shards' marks say which batches were rejected, and the workers' progress says
// the loss of the other batches. Pure logic.
//
//   DivergenceWatch watch;
//   watch.OnBatch(/*rejected=*/true);          // all shards have marked it
//   watch.OnProgress(life, heartbeat.progress);
//   if (const auto diverged = watch.Verdict()) ...
//
// A run has diverged if
//   - half of its newest 100 batches, or more, were rejected, because their
//     loss or gradient was not finite, or
//   - the mean loss of the newest 100 batches that were not rejected is above
//     10 or not finite: Σ loss ÷ Σ examples. Workers report many batches
//     at once, and a report counts whole, so the batches may be more than 100.
//
// A run of fewer than 100 batches has not diverged while it trains. At the end
// of training the same limits hold for 10 batches or more: a short run that
// diverged is not saved over a good checkpoint. The watch knows only the
// batches that this job trains: a job that goes on from a checkpoint starts
// anew, as with a smaller learning rate. Thread-compatible.
class DivergenceWatch {
 public:
  static constexpr size_t kBatches = 100;
  static constexpr size_t kFewestAtEnd = 10;
  static constexpr double kLossMax = 10;

  // Every shard has marked one more batch.
  void OnBatch(bool rejected);
  // `worker` has trained this much so far. Reports of one life may come late or
  // twice.
  void OnProgress(Life worker, const TrainProgress& progress);
  // The life is over and reports no more.
  void End(Life worker) { reported_.erase(worker); }

  // The verdict while the job trains, and at the end of training. nullopt: the
  // run has not diverged.
  std::optional<Divergence> Verdict() const { return Judge(kBatches); }
  std::optional<Divergence> VerdictAtEnd() const {
    return Judge(kFewestAtEnd);
  }

 private:
  // What a worker has reported, or the part of it that is new.
  struct Sums {
    uint64_t batches = 0;
    uint64_t examples = 0;
    double loss = 0;
  };

  // Judges if there are at least this many batches.
  std::optional<Divergence> Judge(size_t fewest) const;

  std::deque<bool> rejected_;      // the newest batches, at most kBatches
  size_t num_rejected_ = 0;        // of those
  std::map<Life, Sums> reported_;  // by worker
  // The newest reports, as few as hold kBatches batches, or all.
  std::deque<Sums> reports_;
  uint64_t batches_ = 0;  // of those reports
};

}  // namespace shoal

#endif  // SHOAL_COORDINATOR_DIVERGENCE_WATCH_H_
