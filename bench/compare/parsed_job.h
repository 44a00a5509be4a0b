#ifndef SHOAL_BENCH_COMPARE_PARSED_JOB_H_
#define SHOAL_BENCH_COMPARE_PARSED_JOB_H_

#include <memory>

#include "absl/status/statusor.h"
#include "base/file_system.h"
#include "bench/compare/cell_flags.h"
#include "job/temporary_token.h"
#include "launch/flag_set.h"
#include "launch/job_flag_set.h"
#include "launch/job_flags.h"

namespace shoal {

// The flags of one job, parsed, and what lives as long as the job.
struct ParsedJob {
  JobFlags flags{Command::kRun};
  FlagSet set = JobFlagSet(&flags);
  std::unique_ptr<TemporaryToken> token;  // null: it needs no file
};

// Parses the flags of a job, and checks all that can be known before it starts.
// The error is that of the flags. Nothing is started; of the files, those of
// --compute_profile are read.
absl::StatusOr<std::unique_ptr<ParsedJob>> ParseFlags(const FlagMap& flags,
                                                      const FileSystem& files);

}  // namespace shoal

#endif  // SHOAL_BENCH_COMPARE_PARSED_JOB_H_
