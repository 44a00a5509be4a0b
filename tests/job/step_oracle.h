#ifndef SHOAL_TESTS_JOB_STEP_ORACLE_H_
#define SHOAL_TESTS_JOB_STEP_ORACLE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "base/file_system.h"
#include "core/model_spec.h"
#include "job/in_process_job.h"

namespace shoal {

// A synchronous job as a serial loop makes it.
struct SerialSteps {
  uint64_t steps = 0;
  uint64_t batches = 0;
  uint64_t examples = 0;
  uint64_t short_batches = 0;  // with fewer examples than the batch size
  uint64_t partial_steps = 0;  // without a batch of every rank
  uint64_t digest = 0;         // of the trained model, as JobReport::digest
  std::vector<float> weights;  // as InProcessRun::Weights
};

// Trains `options.workers` ranks with loops and sums of the test's own. In each
// step the real model computes the gradient of the sum over each rank's batch,
// with the weights before the step. The gradients are added in the order of the
// ranks, rows by id, and are divided once, by the examples of the step. The
// result is one push to a single ParameterShard. The batches are read by the
// real reader, in the order of the lanes that LaneDeal deals.
//
// Of the options, those of the model, the data, the lanes and clip_norm are
// used. A batch that is not sound fails the test. `num_ids`: ids of table 0
// whose weights the result has.
SerialSteps TrainStepsSerially(const InProcessJobOptions& options,
                               const FileSystem& files, uint64_t num_ids);

// The first weight whose bits differ, as in "fm_v of id 12, float 3: 0.25 and
// 0.5"; empty: none. `a` and `b` are as InProcessRun::Weights.
std::string FirstDifference(const ModelSpec& spec, uint64_t num_ids,
                            absl::Span<const float> a,
                            absl::Span<const float> b);

}  // namespace shoal

#endif  // SHOAL_TESTS_JOB_STEP_ORACLE_H_
