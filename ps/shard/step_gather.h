#ifndef SHOAL_PS_SHARD_STEP_GATHER_H_
#define SHOAL_PS_SHARD_STEP_GATHER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <variant>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/generation_messages.h"
#include "core/ids.h"
#include "core/pushed_batch.h"
#include "core/step_messages.h"

namespace shoal {

// What a shard tells the coordinator, in order: about the open step if
// StepGatherOptions::reports is set, and the end of each generation.
using StepReport = std::variant<StepParked, StepTakenOut, GenerationReady>;

struct StepGatherOptions {
  // True for the shard by which the coordinator closes the steps (PS 0): the
  // gather reports what is parked for the open step.
  bool reports = false;
  // The most pushes that are parked at once, one for each worker. More are
  // refused.
  size_t parked_max = kMaxPushedBatches;
};

// Decides what a shard of --mode=sync does with the pushes for its steps, as
// pure logic: (state, event) → decision. The steps of a shard's life are 1, 2,
// 3 …; the step after the applied steps is the open step.
//
//   open --Close--> closed --all its pushes are parked: TakeReady--> applying
//   applying --OnApplied--> open, or held if the step was closed with a hold
//   applying --OnFailed--> closed, without a push of it
//   held --Release--> open
//
// The ranks of the job change by EndGeneration, which drops the parked pushes
// of the open step and ends a hold, and BeginGeneration. Between the two no
// step is closed and no push is parked, except for the step that is closed
// already. The workers of some of its batches are lost. These batches are left
// out where their push is not parked. If none is left, the step counts as
// applied all the same, so that all shards have the same number of steps. Once
// there is no closed step, the gather reports GenerationReady.
//
// A push is known to the gather by a ticket, which the caller chooses; the
// caller keeps the push. A ticket is parked from OnPush until it is returned by
// a call below, or until OnTimeout.
//
//   push for                         open       closed, applying     held
//   a step that is applied           kPast      kPast                kPast
//   the open step, in the closed     kParked    kParked, or          kHeld
//     set                                       kApplying
//   the open step, not in the set      –        kPast                kHeld
//   a later step                     an error in every state
//
// Between two generations a push for the open step is kHeld while no step is
// closed: it may be of the next generation, and have come before
// BeginGeneration. After that a push of any other worker is an error in every
// state. A push under a lease of an older generation, which the network brings
// late or twice, is kPast (GenerationBegan::leases). Lease numbers grow.
//
// No shard closes a step by itself: the set that Close brings is that of all
// shards (cluster/step_closer.h), whatever this shard has. The gather waits for
// the pushes that it lacks, as long as it takes; other parts judge how long.
//
// Memory: `parked_max` tickets. Thread-compatible; ps/shard/step_shard.h locks
// it.
class StepGather {
 public:
  enum class Decision {
    kParked,    // keep the push
    kPast,      // the step has its batches. The push is a repeat if its batch
                // has a mark, and was dropped otherwise
    kApplying,  // another copy of this push is being applied: send it again
    kHeld,      // the job holds before this step, or its ranks change
  };
  struct Arrival {
    Decision decision = Decision::kParked;
    // With kParked: an older copy of this push, which is not parked any more.
    std::optional<uint64_t> replaced;
  };
  // The pushes of a step, to be applied as one.
  struct Ready {
    StepClosed step;
    // In the order of step.batches; nullopt: the batch is left out.
    std::vector<std::optional<uint64_t>> tickets;
  };

  explicit StepGather(StepGatherOptions options) : options_(options) {}

  // A push of `worker` has come, which is valid. Errors, which change nothing:
  // FAILED_PRECONDITION (the worker is not of this generation),
  // INVALID_ARGUMENT (a later step than the open one, a second batch of the
  // worker for the open step, a batch without examples that is not rejected),
  // RESOURCE_EXHAUSTED (parked_max), UNAVAILABLE (the batch is parked for
  // another worker).
  absl::StatusOr<Arrival> OnPush(uint64_t ticket, Life worker, uint64_t step,
                                 const PushedBatch& batch);
  // The call of the push ends. Returns true if the push was parked, and takes
  // it out; false if it is being applied, or gone.
  bool OnTimeout(uint64_t ticket);

  // The coordinator has closed the open step. Returns the parked pushes that
  // are not in it, which are dropped. Errors, which change nothing:
  // FAILED_PRECONDITION (the step is not the open one, or was closed before, or
  // a generation has ended and the next one has not begun), INVALID_ARGUMENT
  // (CheckPushedBatches; a batch that is not rejected has no examples).
  absl::StatusOr<std::vector<uint64_t>> Close(StepClosed step);

  // The closed step, if all its pushes are parked; the caller applies it and
  // then calls OnApplied or OnFailed. To be called after every event.
  std::optional<Ready> TakeReady();
  void OnApplied();
  // The step could not be applied. Its pushes are not parked any more; the step
  // waits until all of them have come again.
  void OnFailed();

  // The hold is over.
  void Release();

  // The generation ends, or the end of the generation gets a new number.
  // Batches in `message.lost` that are in the closed step are left out, and so
  // are those of the calls before. Returns the parked pushes of the open step,
  // which are dropped.
  std::vector<uint64_t> EndGeneration(const NewGeneration& message);
  // Leaves out all pushes that the closed step still lacks. Does nothing unless
  // `generation` is the number of the newest EndGeneration.
  void GiveUp(uint64_t generation);
  // True between two generations, while there is a closed step.
  bool settling() const { return between_ && phase_ != Phase::kOpen; }
  // The next generation begins, of these workers. FAILED_PRECONDITION, which
  // changes nothing: no generation has ended, or a closed step is left.
  absl::Status BeginGeneration(const GenerationBegan& message);

  // True if this batch is in the step that is being applied.
  bool Applies(const BatchId& batch) const {
    return phase_ == Phase::kApplying && set_.contains(batch);
  }
  // The number of steps that are applied.
  uint64_t applied() const { return applied_; }
  // The reports since the last call.
  std::vector<StepReport> TakeReports();
  bool has_reports() const { return !reports_.empty(); }

 private:
  enum class Phase { kOpen, kClosed, kApplying, kHeld };
  struct Parked {
    uint64_t ticket = 0;
    PushedBatch batch;
  };

  bool Closed() const {
    return phase_ == Phase::kClosed || phase_ == Phase::kApplying;
  }
  absl::Status CheckWorker(Life worker) const;
  absl::StatusOr<Arrival> Park(uint64_t ticket, Life worker,
                               const PushedBatch& batch);
  // Takes the lost batches that are not parked out of the closed step.
  void LeaveOut();
  // Between two generations: reports that no closed step is left.
  void ReportIfReady();

  const StepGatherOptions options_;
  Phase phase_ = Phase::kOpen;
  uint64_t applied_ = 0;
  std::map<Life, Parked> parked_;  // for the open step, by worker
  absl::flat_hash_map<BatchId, uint64_t> tickets_;  // the same, by batch
  // While the open step is closed or being applied: the step, its batches, and
  // those of them that are not parked.
  StepClosed closed_;
  absl::flat_hash_set<BatchId> set_;
  absl::flat_hash_set<BatchId> missing_;
  std::vector<StepReport> reports_;
  // From EndGeneration to BeginGeneration: its number, and the batches to be
  // left out.
  bool between_ = false;
  uint64_t generation_ = 0;
  absl::flat_hash_set<BatchId> lost_;
  // nullopt: the generation is the first one, and has no list.
  std::optional<absl::flat_hash_set<Life>> workers_;
  uint64_t newest_lease_ = 0;  // of pushes and steps, until EndGeneration
  uint64_t older_leases_ = 0;  // leases up to this one are of old generations
};

}  // namespace shoal

#endif  // SHOAL_PS_SHARD_STEP_GATHER_H_
