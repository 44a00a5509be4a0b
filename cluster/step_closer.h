#ifndef SHOAL_CLUSTER_STEP_CLOSER_H_
#define SHOAL_CLUSTER_STEP_CLOSER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "core/ids.h"

namespace shoal {

struct StepCloserOptions {
  // The workers of the generation, by rank.
  std::vector<Life> ranks;
  // Ranks for which a step does not wait (--backup_workers). Larger: slow ranks
  // hold up others less, and more batches are dropped and trained later.
  uint32_t backup_workers = 0;
};

// A rank's batch in a step. The batches of a step are in the order of ranks.
struct StepBatch {
  int rank = 0;
  BatchId batch;
  uint64_t lease = 0;     // names the forward pass
  uint64_t examples = 0;
  bool rejected = false;  // its gradient is not sound: marked, never applied

  friend bool operator==(const StepBatch&, const StepBatch&) = default;
};

// The actions that the owner must perform, in order.
//
// Tell every shard that step `step` has these batches and no others. Each shard
// waits for their pushes, merges them in the order of ranks, divides by
// `examples`, applies and marks them, and answers. It answers `dropped` to the
// push of any other batch for this step or an earlier one.
struct CloseStep {
  uint64_t step = 0;
  std::vector<StepBatch> batches;  // at least one
  uint64_t examples = 0;  // of the batches that are not rejected
  // True: a hold was asked for. Once a shard has applied this step, it answers
  // ABORTED to pushes of later steps until the hold is released. A rank keeps
  // such a step with its gradient, and pushes it again after the hold.
  bool hold = false;
};
// A batch came too late for its step. It stays unmarked, so it is among what is
// left of the epoch (LaneDeal::Again). Told once a batch and step.
struct StepDropped {
  uint64_t step = 0;
  int rank = 0;
  BatchId batch;
};
// The hold that was asked for is reached: no step is closed until Release.
struct StepHeld {
  uint64_t step = 0;  // the last step that was closed, 0 for none
};
using CloserAction = std::variant<CloseStep, StepDropped, StepHeld>;
using CloserActions = std::vector<CloserAction>;

// Decides which batches make up each step of `--mode=sync`, as pure logic:
// (state, event) → actions. One closer decides for all shards, by what shard 0
// has. A shard that decided for itself, by what reached it, would take another
// set of batches than its neighbours.
//
//   open --Hold--> holding --the open step is closed, or no lane is left-->
//   held --Release--> open
//
// A push names its step, which is the least count of its pull replies plus 1,
// and shard 0 parks it. The open step is closed once shard 0 has a push of
// every rank whose lane has not ended, less `backup_workers`, but of one at
// least. A push that shard 0 had when the step was closed is in the step. Any
// other push for the step is late, and its batch is dropped.
//
// A hold is agreed in the step: CloseStep says whether the shards go on after
// it, so all ranks stop after the same step, and StepHeld says that they may be
// told to stand still. If the ranks were told by time, one would begin a step
// that another had stopped before, and wait for it for ever. A shard that
// parked pushes during a hold would leave their ranks waiting in the same way.
//
// The ranks of a generation are fixed: a worker that is no rank is refused, or
// in later generations than the first ignored. Between EndGeneration and
// BeginGeneration no step is closed, and what shard 0 parks is ignored. The
// owner judges what the loss of a rank means, and how long a step may stay
// open.
//
// Memory: two batches a rank. Thread-compatible.
class StepCloser {
 public:
  // REQUIRES: backup_workers < ranks.size().
  explicit StepCloser(StepCloserOptions options);

  struct View {
    // Ranks whose lane has not ended, ascending.
    absl::Span<const int> open_lanes;
  };

  // FAILED_PRECONDITION: the worker is not a rank of the first generation.
  absl::Status Admit(Life worker) const;

  // Shard 0 has parked a push of this worker for `step`. `batch.rank` is
  // ignored. A push that is parked already, and one that was dropped, may come
  // again. Errors: those of Admit; INVALID_ARGUMENT: a step that is not open
  // yet, or a second batch of the rank for one step.
  absl::Status OnParked(Life from, uint64_t step, StepBatch batch);
  // Shard 0 has taken the push out again, because its call ended. The push will
  // be parked anew. A step that was closed with it stays closed.
  void OnTakenOut(Life from, uint64_t step);

  // Holds at the next border between steps. REQUIRES: no hold is asked for.
  void Hold();
  // Ends the hold, whether it was reached or not.
  void Release();
  bool held() const { return phase_ == Phase::kHeld; }

  // The generation ends. Returns the batches of the newest step that was closed
  // in this generation whose worker is among `lost`. May be called again.
  std::vector<BatchId> EndGeneration(absl::Span<const Life> lost);
  // The next generation begins, of these ranks; its first step is number
  // `steps` + 1. REQUIRES: EndGeneration was called.
  void BeginGeneration(StepCloserOptions options, uint64_t steps);

  // Goes on as far as possible. To be called after every event.
  CloserActions Step(const View& view);

  uint64_t open_step() const { return step_; }
  // The ranks for which the open step waits, for people: "step 12 waits for
  // ranks 1, 3". Empty if no step waits.
  std::string WaitingFor(const View& view) const;

 private:
  enum class Phase { kOpen, kHolding, kHeld };

  std::optional<int> RankOf(Life worker) const;
  // True if what shard 0 parks of this worker concerns no open step.
  bool Ignores(Life worker) const;
  // Notes a push for a step that is closed.
  absl::Status OnLate(uint64_t step, const StepBatch& batch);
  // True if shard 0 has enough of the open step.
  bool Enough(const View& view) const;
  void Close();
  CloserActions Take() { return std::exchange(actions_, {}); }

  StepCloserOptions options_;
  CloserActions actions_;
  Phase phase_ = Phase::kOpen;
  bool between_ = false;  // from EndGeneration to BeginGeneration
  bool first_ = true;     // no BeginGeneration yet
  uint64_t step_ = 1;  // the open step
  // By rank, in their order: what shard 0 has of the open step.
  std::map<int, StepBatch> parked_;
  // By rank: the step and batch of its newest push that was in time, and of its
  // newest push that was dropped.
  std::map<int, std::pair<uint64_t, BatchId>> closed_;
  std::map<int, std::pair<uint64_t, BatchId>> dropped_;
};

}  // namespace shoal

#endif  // SHOAL_CLUSTER_STEP_CLOSER_H_
