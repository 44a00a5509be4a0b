#ifndef SHOAL_COORDINATOR_RANK_WATCH_H_
#define SHOAL_COORDINATOR_RANK_WATCH_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "absl/types/span.h"
#include "coordinator/job_generations.h"
#include "core/generation_messages.h"
#include "core/ids.h"

namespace shoal {

// Where the ranks of a synchronous mode stand, as they tell in their
// heartbeats, and the warning about a job that trains nothing. For people. Pure
// logic.
//
//   RankWatch watch(options.stall_after);
//   watch.OnHeartbeat(worker.life, heartbeat.standing, now);
//   const auto line = watch.Stall(batches, trains, ranks, now);
//   if (line.has_value()) logger->Warn(*line);
//
// Thread-compatible; times are patient.
class RankWatch {
 public:
  // A job that trains nothing for `stall_after` is warned of; 0: none is.
  explicit RankWatch(absl::Duration stall_after);

  void OnHeartbeat(Life worker, const RankStanding& standing, absl::Time now);
  // The ranks have other numbers from now on.
  void OnNewRanks();
  void Forget(Life worker) { standings_.erase(worker); }

  // "worker 0 at step 12 sums dense bucket 3 of 9 for 4.5s, and nothing comes
  // from worker 2; worker 2 …": by rank, as of each rank's newest heartbeat.
  std::string Standings(absl::Span<const JobRank> ranks, absl::Time now) const;

  // To be called every little while: `batches` have all marks, and the job
  // `trains`, that is, does not evaluate or stand still for a checkpoint.
  // Returns the warning once no batch has come for stall_after, and again each
  // time that this span has doubled.
  std::optional<std::string> Stall(uint64_t batches, bool trains,
                                   absl::Span<const JobRank> ranks,
                                   absl::Time now);

 private:
  struct Told {
    RankStanding standing;
    absl::Time when;
  };

  std::string Of(const JobRank& rank, absl::Span<const JobRank> ranks,
                 absl::Time now) const;

  absl::Duration stall_after_;
  std::map<Life, Told> standings_;
  uint64_t batches_ = 0;
  std::optional<absl::Time> since_;  // since when `batches_` is the same
  absl::Duration next_;              // span after which the next warning comes
};

}  // namespace shoal

#endif  // SHOAL_COORDINATOR_RANK_WATCH_H_
