#ifndef SHOAL_JOB_OUTPUT_CHECK_H_
#define SHOAL_JOB_OUTPUT_CHECK_H_

#include "absl/status/status.h"
#include "job/data_sources.h"
#include "launch/job_flags.h"

namespace shoal {

// INVALID_ARGUMENT, with the flag and both files, if --summary,
// --record_compute or --predictions_file would replace a file that the job
// reads (a file of `sources`, --config, --compute_profile or --token_file, by
// any name of the file), or a file of a checkpoint. Call it before the job
// starts, in the process that writes these outputs or in the process that
// starts it.
absl::Status CheckOutputs(const JobFlags& flags, const DataSources& sources);

}  // namespace shoal

#endif  // SHOAL_JOB_OUTPUT_CHECK_H_
