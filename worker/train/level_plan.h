#ifndef SHOAL_WORKER_TRAIN_LEVEL_PLAN_H_
#define SHOAL_WORKER_TRAIN_LEVEL_PLAN_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace shoal {

// What one rank tells all others about its replica at the beginning of a
// generation. The bytes are those of docs/wire_protocol.md, "The level of a
// replica".
struct LevelPart {
  uint64_t marked = 0;  // batches that have a mark in the replica
  // The batches of the newest step of the replica, and the bytes of EncodeStep
  // (step_memory.h); 0 if the rank does not have the step's gradient any more.
  uint64_t newest = 0;
  uint64_t bytes = 0;

  friend bool operator==(const LevelPart&, const LevelPart&) = default;
};

std::string EncodeLevelPart(const LevelPart& part);
// Any bytes may come. DATA_LOSS, or FAILED_PRECONDITION for another version.
absl::StatusOr<LevelPart> DecodeLevelPart(absl::Span<const char> bytes);

// Who sends the newest step to the others.
struct LevelPlan {
  int sender = -1;           // rank; -1: the replicas are level
  uint64_t bytes = 0;        // of the step
  std::vector<bool> lacks;   // by rank: the replica lacks the step
};

// Decides from the parts of all ranks, by rank; all ranks decide alike. Every
// replica has the batches of the same steps, so a replica that lacks one step
// has as many batches less as the step has. The lowest rank that has the newest
// step sends it. FAILED_PRECONDITION names two ranks, by `name`, whose replicas
// differ in another way: such replicas are no copies of each other.
absl::StatusOr<LevelPlan> PlanLevel(
    absl::Span<const LevelPart> parts,
    const std::function<std::string(int)>& name);

}  // namespace shoal

#endif  // SHOAL_WORKER_TRAIN_LEVEL_PLAN_H_
