#ifndef SHOAL_TESTS_SIM_SIMULATED_JOB_H_
#define SHOAL_TESTS_SIM_SIMULATED_JOB_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "base/logger.h"
#include "cluster/job_report.h"
#include "tests/harness/simulated_network.h"
#include "tests/sim/fault_plan.h"
#include "tests/sim/planted_bugs.h"
#include "tests/sim/probe_job.h"

namespace shoal {

struct SimulatedJobOptions {
  uint64_t seed = 1;  // of everything that is random
  ProbeJobOptions job;
  int pipeline_depth = 1;
  uint64_t save_steps = 0;  // a checkpoint every so many; 0: none at all
  NetworkFaults network;
  FaultCounts faults;
  // A killed process is started again within so long; until then, or until it
  // is given up, a worker's life is suspended, and no checkpoint is cut.
  absl::Duration restart_within = absl::Milliseconds(500);
  // A process that exits is started again, too, unless the job ended well: a
  // job that failed is followed by another one, which goes on from the newest
  // checkpoint. Otherwise the first job's end is the end.
  bool restart_jobs = false;
  PlantedBugs bugs;
  LogLevel log_level = LogLevel::kError;  // of all processes
  // Called with each message's number and delay; see SimulatedNetwork.
  std::function<void(uint64_t message, absl::Duration)> observe;
};

struct SimulatedJobResult {
  bool finished = false;  // within an hour of simulated time
  JobReport report;       // of the last job
  std::vector<absl::Status> failed;  // how the jobs before it ended
  NetworkCounts network;
  int kills = 0;   // of workers
  int jobs = 0;    // that began
  int stalls = 0;  // and freezes
  absl::Duration took;  // simulated
  // What befell, as it did: "12.5 ms: kill worker 1".
  std::vector<std::string> befell;
  // What is wrong by the simulator's own book, which shares nothing with the
  // job's: a push of one job that another one took.
  std::vector<std::string> complaints;
  // Digest of the model that one process without faults ends with when it goes
  // on from a checkpoint of this job: of each of them, up to eight; 0 where it
  // fails.
  std::vector<uint64_t> resumed_digests;
};

// A whole job of the real coordinator, shards, clients and workers over a
// faulty network, all on this thread. Each process has its own strands and, as
// its host, its own disk; it dies, comes back composed from nothing but that,
// and is spoken to at the same address. The job trains the linear probe, so the
// digest of the model must be that of any other schedule and of either kind of
// table; and it has canaries, which the coordinator checks.
SimulatedJobResult RunSimulatedJob(const SimulatedJobOptions& options);

// What is wrong with a job that had to end well, with a model of this digest;
// empty if nothing is.
std::vector<std::string> Complaints(const SimulatedJobOptions& options,
                                    const SimulatedJobResult& result,
                                    uint64_t digest);

}  // namespace shoal

#endif  // SHOAL_TESTS_SIM_SIMULATED_JOB_H_
