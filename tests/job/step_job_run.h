#ifndef SHOAL_TESTS_JOB_STEP_JOB_RUN_H_
#define SHOAL_TESTS_JOB_STEP_JOB_RUN_H_

#include <cstdint>
#include <vector>

#include "cluster/job_report.h"
#include "core/model_spec.h"
#include "core/reduction.h"
#include "job/in_process_job.h"
#include "tests/harness/fake_file_system.h"

namespace shoal {

// A job of a synchronous mode after its end.
struct TrainedJob {
  JobReport report;
  ModelSpec spec;
  uint64_t pushes = 0;  // from all workers to all shards, with retries
  // As InProcessRun::Weights, by replica; a job over servers has one entry.
  std::vector<std::vector<float>> weights;
};

// Run the job on simulated threads, over `ps` servers or as a ring. `schedule`
// decides how the threads are interleaved and how long calls to shards take;
// one rank, which it chooses too, is slower than the others. The test fails if
// the job does.
TrainedJob RunSync(const FakeFileSystem& files, InProcessJobOptions options,
                   int ps, uint64_t schedule);
TrainedJob RunHybrid(const FakeFileSystem& files, InProcessJobOptions options,
                     int ps, uint64_t schedule);
TrainedJob RunRing(const FakeFileSystem& files, InProcessJobOptions options,
                   Reduction reduction, uint64_t schedule);

}  // namespace shoal

#endif  // SHOAL_TESTS_JOB_STEP_JOB_RUN_H_
