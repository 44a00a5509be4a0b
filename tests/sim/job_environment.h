#ifndef SHOAL_TESTS_SIM_JOB_ENVIRONMENT_H_
#define SHOAL_TESTS_SIM_JOB_ENVIRONMENT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/logger.h"
#include "cluster/job_report.h"
#include "tests/harness/keyed_draw.h"
#include "tests/harness/simulated_network.h"
#include "tests/sim/planted_bugs.h"
#include "tests/sim/probe_job.h"

namespace shoal {

// The environment of the processes of a simulated job. All members outlive the
// processes.
struct JobEnvironment {
  const ProbeJob* job = nullptr;
  SimulatedNetwork* network = nullptr;
  Logger* logger = nullptr;
  KeyedDraw draw{0};
  PlantedBugs bugs;
  uint64_t save_steps = 0;  // steps between checkpoints; 0: no checkpoints
  int pipeline_depth = 1;
  std::optional<uint32_t> ssp_bound;  // SimulatedJobOptions::ssp_bound
  // The errors in the simulator's records.
  std::vector<std::string>* complaints = nullptr;

  static std::string AddressOf(int ps) { return absl::StrCat("sim:", ps); }
};

}  // namespace shoal

#endif  // SHOAL_TESTS_SIM_JOB_ENVIRONMENT_H_
