#ifndef SHOAL_TESTS_SIM_SIMULATED_JOB_H_
#define SHOAL_TESTS_SIM_SIMULATED_JOB_H_

#include <cstdint>
#include <vector>

#include "absl/time/time.h"
#include "cluster/job_report.h"
#include "tests/harness/simulated_network.h"

namespace shoal {

struct SimulatedJobOptions {
  uint64_t seed = 1;  // of everything that is random
  int ps = 3;
  int workers = 4;
  int rows = 2000;
  int batch_size = 16;
  int epochs = 2;
  int eval_every_epochs = 1;  // on the first of the training rows
  int pipeline_depth = 1;
  bool dynamic_table = false;
  NetworkFaults faults;
  int kills = 0;  // SIGKILLs of workers, each restarted a moment later
  // A killed worker is started again within so long; until then, or until it
  // is given up, its life is suspended, and no checkpoint is cut.
  absl::Duration restart_within = absl::Milliseconds(500);
  // How often the connection of a process's session breaks, a PS's too.
  int breaks = 0;
  // While it trains, all processes are frozen for so long, as with their host;
  // and PS 0 alone.
  absl::Duration freeze_all;
  absl::Duration freeze_ps0;
  uint64_t save_steps = 0;  // a checkpoint every so many; 0: none at all
  // A planted bug, which the simulator must find: shards say that they are
  // held, and still take pushes until they are written.
  bool unsealed_saves = false;
};

struct SimulatedJobResult {
  bool finished = false;  // within an hour of simulated time
  JobReport report;
  NetworkCounts network;
  int kills = 0;
  int freezes = 0;
  absl::Duration took;  // simulated
  // Digest of the model that one process without faults ends with when it goes
  // on from a checkpoint of this job: of each of them, up to eight; 0 where it
  // fails.
  std::vector<uint64_t> resumed_digests;
};

// A whole job of the real coordinator, shards and workers, each process on an
// executor of its own, over a faulty network, all on this thread. It trains the
// linear probe, so the digest of the model must be that of any other schedule
// and of either kind of table; and it has canaries, which the coordinator
// checks.
SimulatedJobResult RunSimulatedJob(const SimulatedJobOptions& options);

// What one process without faults says of the same job, its table an array.
JobReport RunSerialJob(const SimulatedJobOptions& options);

}  // namespace shoal

#endif  // SHOAL_TESTS_SIM_SIMULATED_JOB_H_
