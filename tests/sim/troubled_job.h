#ifndef SHOAL_TESTS_SIM_TROUBLED_JOB_H_
#define SHOAL_TESTS_SIM_TROUBLED_JOB_H_

#include <cstdint>

#include "tests/sim/simulated_job.h"

namespace shoal {

// A job without faults, with the rows that the jobs below train on.
inline SimulatedJobOptions QuietJob(uint64_t seed) {
  SimulatedJobOptions options;
  options.seed = seed;
  options.job.rows = 800;
  options.job.eval_every_epochs = 0;
  return options;
}

// A job with all faults. Its servers, its coordinator and its hosts die and
// come back, at once or late. Workers stand still, are replaced, and wake up
// during a later job. Messages are lost, late, repeated and split. Strands
// stall. The data do not depend on the seed.
inline SimulatedJobOptions TroubledJob(uint64_t seed) {
  SimulatedJobOptions options = QuietJob(seed);
  options.job.ps = static_cast<int>(1 + seed % 3);
  options.job.workers = static_cast<int>(2 + seed % 2);
  options.job.dynamic_table = seed % 2 == 0;
  options.pipeline_depth = static_cast<int>(seed % 3);
  options.save_steps = seed % 4 == 0 ? 0 : 15;
  options.network.max_delay = absl::Milliseconds(20);
  options.network.push_delay = absl::Milliseconds(seed % 5 == 0 ? 400 : 40);
  options.network.drop = 0.01;
  options.network.duplicate = 0.05;
  options.network.chunk_bytes = seed % 2 == 0 ? 200 : 0;
  options.faults.worker_kills = 3;
  options.faults.ps_kills = 1;
  options.faults.ps0_kills = 1;
  options.faults.host_kills = 1;
  options.faults.all_kills = seed % 3 == 0 ? 1 : 0;
  options.faults.breaks = 10;
  options.faults.replaced_workers = 3;
  options.faults.worker_freezes = 1;
  options.faults.stalls = 5;
  options.restart_within = absl::Milliseconds(seed % 4 < 2 ? 50 : 2000);
  options.restart_jobs = true;
  return options;
}

// A job whose servers die while their workers stand still, and come back at
// once, so that pushes of one job reach the next.
inline SimulatedJobOptions HauntedJob(uint64_t seed) {
  SimulatedJobOptions options = QuietJob(seed);
  options.job.ps = 2;
  options.job.workers = 2;
  options.network.push_delay = absl::Milliseconds(100);
  options.faults.ps0_kills = 2;
  options.faults.ps_kills = 1;
  options.faults.all_kills = 1;
  options.faults.replaced_workers = 4;
  options.restart_within = absl::Milliseconds(100);
  options.restart_jobs = true;
  return options;
}

// A job whose sessions lose their connections, without other faults: the first
// job goes on to its end.
inline SimulatedJobOptions BrokenJob(uint64_t seed) {
  SimulatedJobOptions options = QuietJob(seed);
  options.faults.breaks = 20;
  return options;
}

// All processes stand still for longer than a process may be silent; the first
// job goes on.
inline SimulatedJobOptions FrozenJob(uint64_t seed) {
  SimulatedJobOptions options = QuietJob(seed);
  options.faults.freeze_all = absl::Seconds(8);
  return options;
}

}  // namespace shoal

#endif  // SHOAL_TESTS_SIM_TROUBLED_JOB_H_
