#ifndef SHOAL_TESTS_PLAN_CLUSTER_SIMULATION_H_
#define SHOAL_TESTS_PLAN_CLUSTER_SIMULATION_H_

#include <cstdint>

#include "plan/cluster_description.h"
#include "plan/mode_shape.h"
#include "plan/step_demand.h"
#include "plan/step_times.h"

namespace shoal {

// What a simulation is made of. Times are seconds.
struct SimulatedCluster {
  ClusterDescription hosts;
  int workers_per_host = 1;
  RelativeTimes step_times;
  double final_share = .35;  // Calibration::final_share
  double ring_hop = 40e-6;   // UnitCosts::ring_hop
  int ssp_bound = 2;
  int pipeline_depth = 1;
  int steps = 100;  // of each worker that count; a tenth comes before them
  uint64_t seed = 1;
};

struct SimulatedRun {
  double step_seconds = 0;  // mean time of a worker's step
  // Part of it in which the worker's thread neither computes nor sends: it
  // waits for servers, links and other workers.
  double wait_seconds = 0;
};

// Plays a small cluster event by event: the oracle of the planner's formulas.
// Nothing of plan/prediction.h is used, only the demands.
//
// - A worker has a thread that computes and one that receives; a server has one
//   thread. A host's cores serve its threads at equal shares.
// - A link passes one message after another. A message enters the receiver's
//   link when its first byte is there. The parts of a push, one for each
//   server, share the link. A pull's request comes after the worker's own
//   pushes, which are on the same connection, and waits for no other message.
// - A worker's steps overlap as in worker/train/step_pipeline.h.
// - Each message of a ring is an event, for each bucket and hop.
SimulatedRun Simulate(const ModeShape& mode, const StepDemand& demand,
                      const SimulatedCluster& cluster);

}  // namespace shoal

#endif  // SHOAL_TESTS_PLAN_CLUSTER_SIMULATION_H_
