#ifndef SHOAL_LAUNCH_FLAGS_OUTPUT_FLAGS_H_
#define SHOAL_LAUNCH_FLAGS_OUTPUT_FLAGS_H_

#include <string>

#include "absl/time/time.h"
#include "base/logger.h"
#include "core/progress_style.h"
#include "launch/flags/job_flag_rows.h"

namespace shoal {

// The flags that a command prints at its start. Also the memory that the job
// will take is printed, except with kNone.
enum class PrintConfig { kGiven, kAll, kNone };

// The output, log and files of a process about the job.
struct OutputFlags {
  std::string summary;
  ProgressStyle progress = ProgressStyle::kText;
  LogLevel log_level = LogLevel::kInfo;
  PrintConfig print_config = PrintConfig::kGiven;
  absl::Duration progress_every = absl::Seconds(2);

  // Adds the rows of these flags. The rows are bound to this object.
  void AddRows(JobFlagRows* rows);

  // There is no Validate(): no flag of this group limits another one. The
  // command checks that --summary can be written (cmd/parse_command_line.h).
};

}  // namespace shoal

#endif  // SHOAL_LAUNCH_FLAGS_OUTPUT_FLAGS_H_
