#ifndef SHOAL_MODELS_COMPUTE_PROFILE_H_
#define SHOAL_MODELS_COMPUTE_PROFILE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/model_spec.h"
#include "models/model.h"

namespace shoal {

// The time line of one training step's computation, from the call of
// Model::ForwardBackward on.
struct StepTimeline {
  struct Final {
    DenseRange range;
    absl::Duration at;  // when the range was final
  };
  std::vector<Final> finals;  // in the order in which they were told
  absl::Duration total;       // when ForwardBackward returned
};

// The facts of a model and its batches that a profile must have been recorded
// with, to stand for the computation.
struct ComputeShape {
  static ComputeShape Of(const ModelSpec& spec, int field_size, int batch_size);

  std::string model;  // as --model
  int batch_size = 0;
  int field_size = 0;
  uint64_t row_floats = 0;    // floats of one id's rows in all tables
  uint64_t dense_floats = 0;  // floats of all dense variables
};

// How long a model computed in a real run: the content of the file of
// --record_compute and --compute_profile. docs/benchmarking.md says what the
// text looks like. A profile has at most kMostSteps steps, and about
// kMostFinals ranges in all of them, however long the run was.
struct ComputeProfile {
  static constexpr int kVersion = 1;
  static constexpr size_t kMostSteps = 256;
  static constexpr size_t kMostFinals = 1 << 16;
  // The largest file that is read.
  static constexpr size_t kMostBytes = 16 << 20;

  ComputeShape shape;
  std::string machine;      // the processor that computed; may be empty
  std::string program;      // version of Shoal; may be empty
  uint64_t steps_seen = 0;  // whole batches in the run, after its warm-up
  std::vector<StepTimeline> steps;  // some of these, in their order

  // The mean of the steps' totals. REQUIRES: there is a step.
  absl::Duration MeanTotal() const;
};

// The profile as text, one step a line. Times are whole nanoseconds.
std::string ComputeProfileText(const ComputeProfile& profile);

// Reads what ComputeProfileText wrote. Every profile that is returned has a
// step; the ranges of each step cover the dense variables, each element once;
// times are not negative, do not go backwards within a step and are at most an
// hour. INVALID_ARGUMENT: the text is no such profile, and the message says
// where; FAILED_PRECONDITION: the profile is of another version.
absl::StatusOr<ComputeProfile> ParseComputeProfile(absl::string_view text);

// FAILED_PRECONDITION, with both values and what to do, if a profile of the
// shape `recorded` cannot stand for the computation of a job of shape `job`.
absl::Status CheckSameShape(const ComputeShape& recorded,
                            const ComputeShape& job);

}  // namespace shoal

#endif  // SHOAL_MODELS_COMPUTE_PROFILE_H_
