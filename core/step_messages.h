#ifndef SHOAL_CORE_STEP_MESSAGES_H_
#define SHOAL_CORE_STEP_MESSAGES_H_

#include <cstdint>

#include "core/ids.h"
#include "core/pushed_batch.h"

namespace shoal {

// The messages about the steps that workers may do, in the modes of training
// that limit them (docs/consistency.md, "Modes"). They travel on the sessions
// of core/cluster_service.h, in order with all other messages.

// ---- ssp: workers keep near each other (cluster/ssp_clocks.h)

// From the coordinator to a worker: the worker may do a step while it has
// finished fewer than `until` training steps of its life. `until` never falls.
// A worker that got no Pace has no limit.
struct Pace {
  uint64_t until = 0;
};

// From a worker that got a Pace: the worker has finished `steps` training steps
// of its life, without the steps of leases that it got while it was held.
struct StepsFinished {
  uint64_t steps = 0;
};

// ---- sync: all shards apply the pushes of a step as one (cluster/
// step_closer.h; ps/shard/step_gather.h)

// From PS 0: the shard has parked a push of `worker` for this step.
struct StepParked {
  uint64_t step = 0;  // from 1
  Life worker;
  PushedBatch batch;
};

// From PS 0: the shard has taken the parked push of `worker` out again, because
// its call ended. The push will be parked anew.
struct StepTakenOut {
  uint64_t step = 0;
  Life worker;
};

// From the coordinator to every PS: the step has these batches, and no others.
// The shard waits for their pushes, adds them up in the order of `batches`,
// divides the sum by the examples of the batches that are not rejected, applies
// it as one push, marks the batches and answers the pushes. It answers
// PushReply::dropped to a push of any other batch for this step or an earlier
// one.
struct StepClosed {
  uint64_t step = 0;      // the step before it, plus 1
  PushedBatches batches;  // in the order of ranks; passes CheckPushedBatches
  // True: once the step is applied, the shard answers ABORTED to pushes of
  // later steps, until StepsReleased. So no push is in flight while a
  // checkpoint is saved.
  bool hold = false;
};

// From the coordinator to every PS: pushes are parked again.
struct StepsReleased {};

}  // namespace shoal

#endif  // SHOAL_CORE_STEP_MESSAGES_H_
