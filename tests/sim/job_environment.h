#ifndef SHOAL_TESTS_SIM_JOB_ENVIRONMENT_H_
#define SHOAL_TESTS_SIM_JOB_ENVIRONMENT_H_

#include <cstdint>
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

// What every process of a simulated job finds in its world. All outlive them.
struct JobEnvironment {
  const ProbeJob* job = nullptr;
  SimulatedNetwork* network = nullptr;
  Logger* logger = nullptr;
  KeyedDraw draw{0};
  PlantedBugs bugs;
  uint64_t save_steps = 0;  // a checkpoint every so many; 0: none at all
  int pipeline_depth = 1;
  // What went wrong by the simulator's own book.
  std::vector<std::string>* complaints = nullptr;

  static std::string AddressOf(int ps) { return absl::StrCat("sim:", ps); }
};

}  // namespace shoal

#endif  // SHOAL_TESTS_SIM_JOB_ENVIRONMENT_H_
