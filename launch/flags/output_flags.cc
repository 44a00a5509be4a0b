#include "launch/flags/output_flags.h"

namespace shoal {
namespace {

constexpr Choice<OutputFlags::Progress> kProgress[] = {
    {OutputFlags::Progress::kText, "text"},
    {OutputFlags::Progress::kJson, "json"},
    {OutputFlags::Progress::kNone, "none"}};

constexpr Choice<LogLevel> kLogLevels[] = {{LogLevel::kDebug, "debug"},
                                           {LogLevel::kInfo, "info"},
                                           {LogLevel::kWarn, "warn"},
                                           {LogLevel::kError, "error"}};

}  // namespace

void OutputFlags::AddRows(JobFlagRows* rows) {
  rows->Group("Output");
  rows->Add(kAllCommands, Canonical::kNo,
            {"summary", &summary,
             "Write the run as one JSON object to this file "
             "(docs/summary.md)."});
  rows->Add(kPsAlone, Canonical::kNo,
            {"progress", ChoiceTarget(&progress, kProgress),
             "How task 0 tells of the job on stdout: text for people, json "
             "(docs/commands.md) for programs."});
  rows->Add(
      kAllCommands, Canonical::kNo,
      {"log_level", ChoiceTarget(&log_level, kLogLevels), "How much to log."});
  rows->Add(kAllCommands, Canonical::kNo,
            {"print_config", &print_config,
             "Print all flags in force at the start."},
            HandedDown::kNo);
  rows->Add(kAllCommands, Canonical::kNo,
            {"progress_every", &progress_every,
             "How often to print a line of progress where the output is "
             "no terminal.",
             DurationRange{absl::Milliseconds(50), absl::Hours(24)}});
}

}  // namespace shoal
