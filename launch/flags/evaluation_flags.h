#ifndef SHOAL_LAUNCH_FLAGS_EVALUATION_FLAGS_H_
#define SHOAL_LAUNCH_FLAGS_EVALUATION_FLAGS_H_

#include <string>

#include "absl/status/status.h"
#include "launch/flags/job_flag_rows.h"

namespace shoal {

struct JobFlags;

// What becomes of scores.
struct EvaluationFlags {
  enum class Format { kText, kBinary };

  int eval_every_epochs = 1;
  std::string predictions_file;  // empty: see PredictionsFile
  Format predictions_format = Format::kText;

  // Adds the rows of these flags; they are bound to this object.
  void AddRows(JobFlagRows* rows);

  // INVALID_ARGUMENT: flags of this group that do not go together, or do not go
  // with the rest of `job`, which this group is part of.
  absl::Status Validate(const JobFlags& job) const;
};

}  // namespace shoal

#endif  // SHOAL_LAUNCH_FLAGS_EVALUATION_FLAGS_H_
