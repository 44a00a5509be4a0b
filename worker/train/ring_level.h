#ifndef SHOAL_WORKER_TRAIN_RING_LEVEL_H_
#define SHOAL_WORKER_TRAIN_RING_LEVEL_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "base/aligned_buffer.h"
#include "core/collective.h"
#include "core/gathered_parts.h"
#include "worker/train/level_plan.h"
#include "worker/train/step_memory.h"

namespace shoal {

struct RingLevelOptions {
  std::vector<int> row_dims;  // floats of a row, by table of the model
  size_t dense_size = 0;      // floats of all dense variables
  absl::Duration timeout = absl::InfiniteDuration();  // of one operation
  // The rank for people: "worker 2".
  std::function<std::string(int rank)> name;
};

// Makes the replicas of a new generation level, before its first round
// (docs/decisions/0032-generations.md): the ranks gather what their replicas
// have (level_plan.h), one of them sends the newest step to all, those that
// lack it apply it, and a last gather shows to each rank that all are level.
// Without a difference the first gather is the last. The operations have step 0
// in their tags.
//
//   auto level = std::make_shared<RingLevel>(options, collective,
//       [](std::shared_ptr<StepMemory> step) { /* push, then Applied(n) */ });
//   level->Start(marked, newest, [](absl::Status status) { … });
//
// Errors of `done`: those of the Collective, of DecodeLevelPart, PlanLevel and
// DecodeStep; FAILED_PRECONDITION if a replica is not level in the end.
//
// Owned by one strand, which is the Collective's executor. Held by shared_ptr:
// operations in flight keep the memory that they use.
class RingLevel : public std::enable_shared_from_this<RingLevel> {
 public:
  using Apply = absl::AnyInvocable<void(std::shared_ptr<StepMemory>)>;

  // `collective` must outlive the object's use, which ends with Cancel or with
  // `done`. `apply` gets a step that this rank's replica lacks, at most once.
  RingLevel(RingLevelOptions options, Collective* collective, Apply apply);

  // `marked` are the batches that have a mark in this rank's replica. `newest`
  // is the replica's newest step, or null if it is not known any more. `done`
  // runs on the strand, never inside the call.
  void Start(uint64_t marked, std::shared_ptr<const StepMemory> newest,
             absl::AnyInvocable<void(absl::Status) &&> done);
  // The replica has the step of `apply`, and now so many batches with a mark.
  void Applied(uint64_t marked);
  // Drops `done` and `apply`. No call follows.
  void Cancel();

 private:
  void Gather();
  void OnGathered(const absl::Status& status);
  absl::StatusOr<LevelPlan> ReadParts() const;
  void SendStep(const LevelPlan& plan);
  void OnStep(const absl::Status& status, bool lacks);
  void End(absl::Status status);

  const RingLevelOptions options_;
  Collective* collective_;  // null after Cancel
  Apply apply_;
  absl::AnyInvocable<void(absl::Status) &&> done_;
  uint32_t index_ = 0;  // of the next operation
  LevelPart own_;
  bool sent_step_ = false;  // a step went round the ring
  std::string sent_;        // own_ as bytes
  GatheredParts received_;
  AlignedBuffer<char> step_;  // the newest step as bytes
};

}  // namespace shoal

#endif  // SHOAL_WORKER_TRAIN_RING_LEVEL_H_
