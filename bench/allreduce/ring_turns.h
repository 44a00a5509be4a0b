#ifndef SHOAL_BENCH_ALLREDUCE_RING_TURNS_H_
#define SHOAL_BENCH_ALLREDUCE_RING_TURNS_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "bench/allreduce/turn_plan.h"
#include "core/collective.h"

namespace shoal {

struct RingTurnsOptions {
  // Longest time of one AllReduce, and of each wait for what rank 0 says.
  absl::Duration timeout = absl::Seconds(60);
  // The same of the first call, which waits until all ranks are there.
  absl::Duration first_timeout = absl::Seconds(120);
  const Clock* clock = nullptr;  // outlives the call
  // Called on the calling thread once all ranks are there; may be null.
  std::function<void()> on_begin;
};

// Most bytes of the values of a turn.
inline constexpr uint64_t kTurnBytesMost = uint64_t{1} << 30;

// Makes the turns of *plan on rank 0 of `ring`, and says to the other ranks by
// a Broadcast before each turn what it is, so that these need to know nothing.
// Blocks the calling thread, which is none of those that run the completions of
// `ring`. Errors: those of the Collective; DATA_LOSS: a sum is wrong. An error
// is final, and the other ranks learn of it when `ring` is destroyed.
absl::Status LeadTurns(Collective* ring, const RingTurnsOptions& options,
                       TurnPlan* plan);

// The same on every other rank: makes the turns that rank 0 says. Also
// INVALID_ARGUMENT: rank 0 says what cannot be a turn.
absl::Status FollowTurns(Collective* ring, const RingTurnsOptions& options);

// A turn as it is sent, and back.
std::string EncodeTurn(const AllReduceTurn& turn);
// INVALID_ARGUMENT: not a turn, or one of more than kTurnBytesMost bytes.
absl::Status DecodeTurn(const std::string& bytes, AllReduceTurn* turn);

}  // namespace shoal

#endif  // SHOAL_BENCH_ALLREDUCE_RING_TURNS_H_
