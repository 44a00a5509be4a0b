#ifndef SHOAL_CORE_RANK_BOARD_H_
#define SHOAL_CORE_RANK_BOARD_H_

#include <atomic>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/generation_messages.h"

namespace shoal {

// For people: "at step 12 sums dense bucket 3 of 9 for 4.5s, and nothing
// comes from worker 2", if `waits_for` is "worker 2"; it may be empty.
// `since_told` is the time since the rank stood there.
std::string StandingText(const RankStanding& standing,
                         absl::string_view waits_for,
                         absl::Duration since_told = absl::ZeroDuration());

// Where this rank stands. The threads that train write numbers, and the
// heartbeat reads them and makes the text. Thread-safe; no call waits, and
// numbers that are written together may be read apart.
class RankBoard {
 public:
  enum class Phase : uint8_t {
    kNone,
    kLease,       // waits for a lease
    kReads,       // reads or pulls a batch
    kComputes,
    kEvaluates,
    kHeld,        // stands still until the job is saved
    kRound,       // sums the dense buckets and gathers the ranks' parts
    kPushesRows,  // its rows are on their way to the servers
    kConfirms,    // waits until the rows of all ranks are on the servers
    kApplies,     // its replica or the servers apply the step
    kLevels,
  };

  // The trainer enters a phase, unless it is in it.
  void Enter(Phase phase, absl::Time now) { trainer_.Enter(phase, now); }
  // The exchange between the ranks does so. Unless kNone, this is the phase of
  // the rank: an exchange may work while the trainer waits.
  void EnterExchange(Phase phase, absl::Time now) {
    exchange_.Enter(phase, now);
  }
  // The step of the generation, from 1; 0: none yet.
  void SetStep(uint64_t step);
  // The dense buckets of a step, which the first operations of a round sum, and
  // whether the parts of the ranks, which come next, have rows.
  void SetRound(uint32_t buckets, bool rows);
  // The ring's thread waits for `rank` in an operation; `index` is that of its
  // tag (core/collective.h).
  void WaitFor(uint32_t index, int rank);
  // The ring's thread waits for no rank.
  void WaitForNone();

  RankStanding Read(absl::Time now) const;

 private:
  struct Place {
    void Enter(Phase next, absl::Time now) {
      if (phase.exchange(next) != next) since = absl::ToUnixNanos(now);
    }
    std::atomic<Phase> phase{Phase::kNone};
    std::atomic<int64_t> since{0};  // nanoseconds since the epoch
  };

  Place trainer_;
  Place exchange_;
  std::atomic<uint64_t> step_{0};
  std::atomic<uint32_t> buckets_{0};
  std::atomic<bool> rows_{true};
  // The index of an operation in the upper half, and the rank + 1 in the lower;
  // 0: none.
  std::atomic<uint64_t> waits_{0};
};

}  // namespace shoal

#endif  // SHOAL_CORE_RANK_BOARD_H_
