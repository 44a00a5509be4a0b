#ifndef SHOAL_TESTS_HARNESS_IN_PROCESS_RUN_H_
#define SHOAL_TESTS_HARNESS_IN_PROCESS_RUN_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "base/file_system.h"
#include "base/logger.h"
#include "cluster/job_report.h"
#include "job/in_process_job.h"
#include "tests/harness/simulated_executor.h"

namespace shoal {

// The options that tests of whole jobs begin with: a small DeepFM with Adam,
// the reference backend, pipeline depth 0, and no reading ahead. The test sets
// the data and all other options.
InProcessJobOptions SmallDeepFm(uint64_t feature_size, int field_size);

// The sources of a path. Fails the test if there are no sources.
std::vector<LocalSource> ListOrFail(const FileSystem& files,
                                    const std::string& path);

// A whole job in one process on simulated threads: one for the coordinator and
// the sessions, and one for each worker. Belongs to the test's thread.
class InProcessRun {
 public:
  // `schedule` decides how the threads are interleaved. `files` outlives the
  // run.
  InProcessRun(uint64_t schedule, int workers, const FileSystem* files);

  // The dependencies of the job. A test may change them before Run.
  InProcessJobDependencies deps;

  // Runs the job to its end. The test fails if that takes more than an hour of
  // simulated time. `watch` is called with the job again and again until then.
  // Call once.
  const JobReport& Run(InProcessJobOptions options,
                       const std::function<void(InProcessJob*)>& watch = {});

  Simulator* simulator() { return &simulator_; }
  SimulatedExecutor* control() { return &control_; }
  // A separate thread for saving and loading, for tests that want one.
  SimulatedExecutor* background() { return &background_; }
  Logger* logger() { return &logger_; }
  // After Run:
  InProcessJob* job() { return job_.get(); }
  const JobReport& report() const { return report_; }
  // The weights of the trained model, read from its shards: the rows of the ids
  // 0 … num_ids - 1 of table 0, and then all dense variables, one after another
  // in the order of the spec. In a ring they are those of the replica of
  // `rank`.
  std::vector<float> Weights(uint64_t num_ids, int rank = 0);

 private:
  // Fills in what one shard, which `member` holds, has of these rows and of the
  // dense variables.
  void PullWeights(int shard, int member, uint64_t num_ids,
                   absl::Span<float> rows, absl::Span<float> dense);

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
