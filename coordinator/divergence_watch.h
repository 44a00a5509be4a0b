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
  std::string why;  // "60 of its newest 100 batches were rejected, …"
  // The job's step before the first bad batch: a checkpoint of this step, or of
  // an earlier one, has none of the bad batches.
  uint64_t after = 0;
};

// Watches whether training has diverged, from what the processes tell: the
// shards' marks say which batches were rejected, and the workers' progress says
// the loss of the other batches. Pure logic.
//
//   DivergenceWatch watch;
//   watch.OnBatch(step, /*rejected=*/true);  // all shards have marked it
//   if (const auto diverged = watch.Verdict()) ...
//   watch.OnLease(life, step);
//   watch.OnProgress(life, heartbeat.progress, step);
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
// anew, as with a smaller learning rate.
//
// Divergence::after is the step before the first bad batch: before the oldest
// rejected one of the newest 100, and before the reports with a mean loss above
// 10. A report's batches are those since the worker's report before it, or
// since its first lease. What is promised: no batch up to `after` was rejected
// in the newest 100 or is in such a report, as far as reports are in. What is
// not: weights may have been bad for some batches before one was rejected, and
// a report may be a second late. Thread-compatible.
class DivergenceWatch {
 public:
  static constexpr size_t kBatches = 100;
  static constexpr size_t kFewestAtEnd = 10;
  static constexpr double kLossMax = 10;

  // Every shard has marked one more batch, which makes the job's step `step`.
  void OnBatch(uint64_t step, bool rejected);
  // `worker` is given a lease at the job's step `step`.
  void OnLease(Life worker, uint64_t step) {
    reported_.try_emplace(worker, Reported{{}, step});
  }
  // `worker` has trained this much so far; the job is at `step`. Reports of one
  // life may come late or twice.
  void OnProgress(Life worker, const TrainProgress& progress, uint64_t step);
  // The life is over and reports no more.
  void End(Life worker) { reported_.erase(worker); }

  // The verdict while the job trains, and at the end of training. nullopt: the
  // run has not diverged.
  std::optional<Divergence> Verdict() const { return Judge(kBatches); }
  std::optional<Divergence> VerdictAtEnd() const {
    return Judge(kFewestAtEnd);
  }
  // False while training looks as if it diverges, before there is a verdict:
  // half of the newest 10 batches, or of the newest 100, were rejected, or the
  // mean loss of the newest report, or of all that count, is above 10. Fewer
  // batches are judged too. No weights of such a time are to be saved unasked.
  bool Sound() const;

 private:
  // What a worker has reported, or the part of it that is new.
  struct Sums {
    uint64_t batches = 0;
    uint64_t examples = 0;
    double loss = 0;

    bool Bad() const;  // the mean loss is above kLossMax, or not finite
  };
  struct Reported {
    Sums sums;
    // The job's step when this was reported; of the new part: the step before
    // its first batch.
    uint64_t step = 0;
  };

  // Judges if there are at least this many batches.
  std::optional<Divergence> Judge(size_t fewest) const;
  uint64_t StepBeforeBad() const;

  uint64_t step_ = 0;          // the job's step after the newest batch
  std::deque<bool> rejected_;  // the newest batches, at most kBatches
  size_t num_rejected_ = 0;    // of those
  std::map<Life, Reported> reported_;  // by worker
  // The newest reports, as few as hold kBatches batches, or all.
  std::deque<Reported> reports_;
  Sums window_;  // of those reports
};

}  // namespace shoal

#endif  // SHOAL_COORDINATOR_DIVERGENCE_WATCH_H_
