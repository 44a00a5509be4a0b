#ifndef SHOAL_TESTS_JOB_STEP_JOB_H_
#define SHOAL_TESTS_JOB_STEP_JOB_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/optimizer_spec.h"
#include "core/training_mode.h"
#include "job/in_process_job.h"
#include "tests/harness/fake_file_system.h"

namespace shoal {

// Jobs of synchronous modes whose weights tests compare.

inline constexpr uint64_t kStepJobIds = 120;  // of table 0

// Rows in the libsvm format whose labels can be learnt. Ids are below
// kStepJobIds.
std::string StepJobRows(uint64_t seed, int rows);

// A DeepFM with dropout, L2, warm-up and canaries, for `ranks` ranks. A batch
// has 20 examples, which is no power of two: so a gradient that is divided
// before the sum has other bits. The test adds the data.
InProcessJobOptions StepJobOptions(OptimizerKind kind, int ranks);

// Adds files that give the job at least 50 steps of two epochs, with short
// batches, and with lanes of several lengths.
void AddUnevenFiles(FakeFileSystem* files, InProcessJobOptions* options);
// Adds files that give the job 10 steps, with short batches, and with lanes of
// several lengths.
void AddTenSteps(FakeFileSystem* files, InProcessJobOptions* options);

// Makes it a job of the mode.
void SetMode(TrainingMode mode, InProcessJobOptions* options);

}  // namespace shoal

#endif  // SHOAL_TESTS_JOB_STEP_JOB_H_
