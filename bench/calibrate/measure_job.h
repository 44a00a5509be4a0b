#ifndef SHOAL_BENCH_CALIBRATE_MEASURE_JOB_H_
#define SHOAL_BENCH_CALIBRATE_MEASURE_JOB_H_

#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/file_system.h"
#include "launch/flag_set.h"
#include "launch/job_flags.h"
#include "plan/calibration.h"

namespace shoal {

// Counts the distinct ids of 1, 2, 4, … batches in a row of the files that the
// flags name to train on, and replaces calibration->distinct_ids. REQUIRES:
// flags.Validate() was OK. Errors: those of the data.
absl::Status CountIds(const FileSystem& files, const JobFlags& flags,
                      Calibration* calibration);

struct MeasureOptions {
  absl::Duration span = absl::Seconds(10);  // how long it trains
  // For a directory of its own, which is removed at the end.
  std::string scratch = "/tmp";
  // The calibration of another job, or null. Its costs are taken for all but
  // the sample, those of rows for the length that rows have in this job.
  // Outlives the call.
  const Calibration* others = nullptr;
};

// Measures a job in one process: trains with its flags in a child process of
// this program, and counts the distinct ids of 1, 2, 4, … batches in a row of
// its data. Costs of messages, of rows and of dense variables are not measured:
// they are those of options.others, or the defaults. `set` is the JobFlagSet of
// `flags`, which were read and are valid. Settings of single modes do not
// change what is measured.
//
// `stopped` is asked before there is a directory or a process, and then every
// tenth of a second. When it is not OK, the child is ended (killed, if it does
// not end in 5 s), nothing is left behind, and the error is that of `stopped`.
// From its first call to the end, signals must not end this process
// (job/main_wait.h). Other errors: those of the data; FAILED_PRECONDITION, with
// what the process printed, if the training failed or had too few steps.
absl::StatusOr<Calibration> MeasureJob(
    const FileSystem& files, const JobFlags& flags, const FlagSet& set,
    const MeasureOptions& options, absl::FunctionRef<absl::Status()> stopped);

}  // namespace shoal

#endif  // SHOAL_BENCH_CALIBRATE_MEASURE_JOB_H_
