#ifndef SHOAL_PLAN_PREDICTION_H_
#define SHOAL_PLAN_PREDICTION_H_

#include <vector>

#include "plan/calibration.h"
#include "plan/cluster_description.h"
#include "plan/mode_shape.h"
#include "plan/step_demand.h"
#include "plan/step_times.h"

namespace shoal {

// What decides how long a step takes.
enum class Limit {
  kWorkerCore,  // the worker's computation
  kHostCores,   // all cores of a host, which workers and servers share
  kServerCores,
  kLink,     // bytes
  kLatency,  // messages that follow one another
  kSlowest,  // waiting for the slowest worker of a step
};

// The limit in words: "worker's core", "link", …
const char* LimitText(Limit limit);

// What a cluster does to one step, apart from the demands.
struct StepSetting {
  ClusterDescription cluster;
  int workers_per_host = 1;
  RelativeTimes step_times;
  double final_share = .35;
  double ring_hop = 40e-6;
  int ssp_bound = 3;
  int pipeline_depth = 1;
  // How many times as long links take for what goes between all workers and all
  // servers, since streams that share links do not end at one time.
  double uneven_streams = 1;
};

// A worker's step. Seconds.
struct StepPrediction {
  double step_seconds = 0;
  // Part of it in which the worker's thread neither computes nor sends.
  double wait_seconds = 0;
  Limit limit = Limit::kWorkerCore;
};

// The formulas (docs/planning.md). O(1) in the number of hosts. Tests compare
// them with a simulation, event by event, of clusters of 2 to 64 hosts
// (tests/plan/cluster_simulation.h).
StepPrediction PredictStep(const ModeShape& mode, const StepDemand& demand,
                           const StepSetting& setting);

// A mode on so many hosts of a cluster.
struct Prediction {
  const ModeShape* mode = nullptr;
  int hosts = 1;
  double samples_per_second = 0;
  // Samples a second over `hosts` times those of one host in the same mode.
  double efficiency = 1;
  StepPrediction step;
  // Payload that a host sends for a sample that it trains, and bytes of memory
  // that a host holds.
  double bytes_per_sample = 0;
  double memory_bytes = 0;
  bool fits = true;  // in the memory of a host, as far as that is known
  // Something of it is not as in the cells of the calibration: the mode, hosts,
  // their cores, the network, the batch, the model, the workers of a host, or a
  // setting of the mode.
  bool extrapolated = false;
};

// Predicts the mode on the first `hosts` hosts of the cluster. It predicts
// speed alone, never the quality of the model.
Prediction Predict(const ModeShape& mode, const Calibration& calibration,
                   const PlannedJob& job, const ClusterDescription& cluster,
                   int hosts);

}  // namespace shoal

#endif  // SHOAL_PLAN_PREDICTION_H_
