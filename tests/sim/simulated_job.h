#ifndef SHOAL_TESTS_SIM_SIMULATED_JOB_H_
#define SHOAL_TESTS_SIM_SIMULATED_JOB_H_

#include <cstdint>
#include <functional>
#include <optional>
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
  uint64_t seed = 1;  // of all random numbers
  ProbeJobOptions job;
  int pipeline_depth = 1;
  // Set: workers keep within this bound of the slowest (--mode=ssp).
  std::optional<uint32_t> ssp_bound;
  uint64_t save_steps = 0;  // steps between checkpoints; 0: no checkpoints
  NetworkFaults network;
  FaultCounts faults;
  // The longest time until a killed process is started again. Until then, or
  // until the worker is given up, a worker's life is suspended and no
  // checkpoint is saved.
  absl::Duration restart_within = absl::Milliseconds(500);
  // True: a process that exits is started again, too, unless the job ended
  // well. A job that failed is followed by another job, which goes on from the
  // newest checkpoint. False: the simulation ends with the first job.
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
  // The faults in their order: "12.5 ms: kill worker 1".
  std::vector<std::string> befell;
  // Errors in the simulator's records, which share no code with the job: pushes
  // of one job that another job took.
  std::vector<std::string> complaints;
  // For up to eight checkpoints of this job: the digest of the model after one
  // process without faults goes on from the checkpoint to the end. 0: that
  // process failed.
  std::vector<uint64_t> resumed_digests;
};

// A whole job of the real coordinator, shards, clients and workers over a
// faulty network, all on this thread. Each process has its own strands and,
// like a host, its own disk. A process that dies comes back with only its disk,
// at the same address. The job trains the linear probe, so the digest of the
// model must equal that of any other schedule and of either kind of table. The
// job has canaries, which the coordinator checks.
SimulatedJobResult RunSimulatedJob(const SimulatedJobOptions& options);

// The errors of a job that had to end well with a model of this digest, as a
// text; empty: no errors.
std::vector<std::string> Complaints(const SimulatedJobOptions& options,
                                    const SimulatedJobResult& result,
                                    uint64_t digest);

}  // namespace shoal

#endif  // SHOAL_TESTS_SIM_SIMULATED_JOB_H_
