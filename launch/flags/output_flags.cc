#include "launch/flags/output_flags.h"

namespace shoal {

void OutputFlags::AddRows(JobFlagRows* rows) {
  rows->Group("Output");
  rows->Add(kAllCommands, Canonical::kNo,
            {"summary", &summary,
             "Write the run as one JSON object to this file "
             "(docs/summary.md)."});
  rows->Add(kPsAlone, Canonical::kNo,
            {"progress", &progress,
             "How task 0 tells of the job on stdout: text for people, json "
             "(docs/commands.md) for programs.",
             Choices{{"text", "json", "none"}, {}}});
  rows->Add(kAllCommands, Canonical::kNo,
            {"log_level", &log_level, "How much to log.",
             Choices{{"debug", "info", "warn", "error"}, {}}});
  rows->Add(kAllCommands, Canonical::kNo,
            {"print_config", &print_config,
             "Print all flags in force at the start."});
  rows->Add(kAllCommands, Canonical::kNo,
            {"progress_every", &progress_every,
             "How often to print a line of progress where the output is "
             "no terminal.",
             DurationRange{absl::Milliseconds(50), absl::Hours(24)}});
}

}  // namespace shoal
