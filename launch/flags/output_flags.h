#ifndef SHOAL_LAUNCH_FLAGS_OUTPUT_FLAGS_H_
#define SHOAL_LAUNCH_FLAGS_OUTPUT_FLAGS_H_

#include <string>

#include "absl/time/time.h"
#include "base/logger.h"
#include "base/terminal.h"
#include "core/progress_style.h"
#include "launch/flags/job_flag_rows.h"

namespace shoal {

// The form of the time in log lines.
enum class LogTimeForm { kAuto, kFull, kShort };
// The flags that a command prints at its start. Also the memory that the job
// will take is printed, except with kNone.
enum class PrintConfig { kGiven, kAll, kNone };

// The output, log and files of a process about the job.
struct OutputFlags {
  std::string summary;
  ProgressStyle progress = ProgressStyle::kText;
  LogLevel log_level = LogLevel::kInfo;
  LogTimeForm log_time = LogTimeForm::kAuto;
  PrintConfig print_config = PrintConfig::kGiven;
  absl::Duration progress_every = absl::Seconds(2);

  // The terminal that stderr is. Not a flag: the command fills it in.
  Terminal terminal;

  // True if log lines have date and zone: a log that is not on a terminal is
  // read later.
  bool FullTime() const {
    return log_time == LogTimeForm::kAuto ? !terminal.shown
                                          : log_time == LogTimeForm::kFull;
  }

  // True if a launcher started this process and tells how the job ended.
  bool Launched() const { return progress != ProgressStyle::kText; }

  // Adds the rows of these flags. The rows are bound to this object.
  void AddRows(JobFlagRows* rows);

  // There is no Validate(): no flag of this group limits another one. The
  // command checks that --summary can be written (cmd/parse_command_line.h).
};

}  // namespace shoal

#endif  // SHOAL_LAUNCH_FLAGS_OUTPUT_FLAGS_H_
