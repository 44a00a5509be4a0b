#ifndef SHOAL_TESTS_HARNESS_IN_PROCESS_RUN_H_
#define SHOAL_TESTS_HARNESS_IN_PROCESS_RUN_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/file_system.h"
#include "base/logger.h"
#include "cluster/job_report.h"
#include "job/in_process_job.h"
#include "tests/harness/simulated_executor.h"

namespace shoal {

// The options that tests of whole jobs begin with: a small DeepFM under Adam,
// the reference backend, pipeline depth 0, nothing read ahead; what it reads,
// and all else, is left to the test.
InProcessJobOptions SmallDeepFm(uint64_t feature_size, int field_size);

// The sources of a path; fails the test where there are none.
std::vector<LocalSource> ListOrFail(const FileSystem& files,
                                    const std::string& path);

// A whole job in one process on simulated threads: one of the coordinator and
// the sessions, and one a worker. Belongs to the test's thread.
class InProcessRun {
 public:
  // `schedule` decides how the threads are interleaved. `files` outlives it.
  InProcessRun(uint64_t schedule, int workers, const FileSystem* files);

  // What the job stands on; a test may change it before Run.
  InProcessJobDependencies deps;

  // Runs it to its end, within an hour of simulated time; otherwise the test
  // fails. `watch` is called with the job again and again until then. Call
  // once.
  const JobReport& Run(InProcessJobOptions options,
                       const std::function<void(InProcessJob*)>& watch = {});

  Simulator* simulator() { return &simulator_; }
  SimulatedExecutor* control() { return &control_; }
  // A thread for saving and loading, for tests that want one of its own.
  SimulatedExecutor* background() { return &background_; }
  Logger* logger() { return &logger_; }
  // After Run:
  InProcessJob* job() { return job_.get(); }
  const JobReport& report() const { return report_; }

 private:
  Simulator simulator_;
  SimulatedExecutor control_{&simulator_};
  SimulatedExecutor background_{&simulator_};
  std::vector<std::unique_ptr<SimulatedExecutor>> train_;
  Logger logger_{{"", LogLevel::kError}};
  std::unique_ptr<InProcessJob> job_;
  JobReport report_;
};

}  // namespace shoal

#endif  // SHOAL_TESTS_HARNESS_IN_PROCESS_RUN_H_
