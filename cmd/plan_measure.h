#ifndef SHOAL_CMD_PLAN_MEASURE_H_
#define SHOAL_CMD_PLAN_MEASURE_H_

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/file_system.h"
#include "launch/flag_set.h"
#include "launch/job_flags.h"
#include "plan/calibration.h"

namespace shoal {

// The sizes of the job's variables, which its flags decide.
struct JobSizes {
  double dense_bytes = 0;
  double row_floats = 0;
  double flop_per_sample = 0;  // of the products of its dense matrices
  double table_bytes = 0;      // with slots; 0: tables that grow
};
absl::StatusOr<JobSizes> SizesOf(const JobFlags& flags);

// Counts the distinct ids of 1, 2, 4, … batches in a row of the files that the
// flags name to train on, and replaces calibration->distinct_ids. REQUIRES:
// flags.Validate() was OK. Errors: those of the data.
absl::Status CountIds(const FileSystem& files, const JobFlags& flags,
                      Calibration* calibration);

// Measures a job in one process: trains for `span` with its flags in a child
// process of this program, and counts the distinct ids of 1, 2, 4, … batches in
// a row of its data. Costs of messages keep their defaults. `set` is the
// JobFlagSet of `flags`, which were read and are valid. Errors: those of the
// data; FAILED_PRECONDITION, with what the process printed, if the training
// failed or had too few steps.
absl::StatusOr<Calibration> MeasureJob(const FileSystem& files,
                                       const JobFlags& flags,
                                       const FlagSet& set, absl::Duration span);

}  // namespace shoal

#endif  // SHOAL_CMD_PLAN_MEASURE_H_
