#ifndef SHOAL_LAUNCH_FLAGS_EVALUATION_FLAGS_H_
#define SHOAL_LAUNCH_FLAGS_EVALUATION_FLAGS_H_

#include <string>

#include "absl/status/status.h"
#include "core/predictions_format.h"
#include "core/unseen.h"
#include "launch/flags/job_flag_rows.h"

namespace shoal {

struct JobFlags;

// The use of scores: evaluations and predictions.
struct EvaluationFlags {
  int eval_every_epochs = 1;
  std::string predictions_file;  // empty: see JobFlags::PredictionsFile
  PredictionsFormat predictions_format = PredictionsFormat::kText;
  Unseen unseen = Unseen::kInitial;

  // Adds the rows of these flags. The rows are bound to this object.
  void AddRows(JobFlagRows* rows);

  // INVALID_ARGUMENT: flags of this group do not go together, or do not go with
  // other flags of `job`, which this group is part of.
  absl::Status Validate(const JobFlags& job) const;
};

}  // namespace shoal

#endif  // SHOAL_LAUNCH_FLAGS_EVALUATION_FLAGS_H_
