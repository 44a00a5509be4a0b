#ifndef SHOAL_TESTS_PS_STEP_PUSH_H_
#define SHOAL_TESTS_PS_STEP_PUSH_H_

#include <cstdint>
#include <set>
#include <vector>

#include "absl/types/span.h"
#include "core/ids.h"
#include "core/model_spec.h"
#include "core/parameter_service.h"
#include "core/pushed_batch.h"
#include "core/shard_map.h"
#include "core/step_messages.h"
#include "tests/ps/shard_set.h"

namespace shoal {

// The steps of a job of --mode=sync in tests. The batch of rank r in step s is
// (0, r, s); its gradient is made of random numbers, so that every order of
// additions has bits of its own.

inline constexpr uint64_t kStepFeatures = 60;

// A table of kStepFeatures rows of 3 floats, and two dense variables.
ModelSpec StepModel(OptimizerKind kind);

// The gradient of the sum over the rank's batch of this step.
BatchGradient GradientOf(uint32_t rank, uint32_t step);

// The gradient of a step by the obvious loop: batches in order, one division.
// Rejected batches are left out. The batches of `without` are not added, but
// their examples count. At least one batch is added.
BatchGradient SerialSum(absl::Span<const PushedBatch> batches,
                        const std::set<BatchId>& without = {});

// The digest of the model after these steps, each of these ranks, in a serial
// run on one shard.
uint64_t SerialDigest(OptimizerKind kind,
                      const std::vector<std::vector<uint32_t>>& steps);

PushedBatch StepBatchOf(uint32_t rank, uint32_t step);
// The step with the batches of these ranks.
StepClosed ClosedWith(uint64_t step, const std::vector<uint32_t>& ranks,
                      bool hold = false);

// A rank's push to one shard, with its memory.
struct StepPush {
  StepPush(const ShardMap& map, int shard, const CallIdentity& identity,
           uint32_t rank, uint32_t step, const BatchGradient& gradient);

  std::vector<FeatureId> ids;
  std::vector<float> rows;
  std::vector<float> dense;
  PushRequest request;
};

}  // namespace shoal

#endif  // SHOAL_TESTS_PS_STEP_PUSH_H_
