#include "launch/flags/output_flags.h"

namespace shoal {
namespace {

constexpr Choice<LogLevel> kLogLevels[] = {{LogLevel::kDebug, "debug"},
                                           {LogLevel::kInfo, "info"},
                                           {LogLevel::kWarn, "warn"},
                                           {LogLevel::kError, "error"}};

constexpr Choice<PrintConfig> kPrintConfig[] = {{PrintConfig::kGiven, "true"},
                                                {PrintConfig::kAll, "all"},
                                                {PrintConfig::kNone, "false"}};

}  // namespace

void OutputFlags::AddRows(JobFlagRows* rows) {
  rows->Group("Output");
  rows->Add(kAllCommands, Canonical::kNo,
            {"summary", &summary,
             "File for the summary of the run as one JSON object "
             "(docs/summary.md)."});
  rows->Add(kPsAlone, Canonical::kNo,
            {"progress", ChoiceTarget(&progress, kProgressStyles),
             "Form of the lines about the job that task 0 prints on stdout: "
             "text for people, json (docs/commands.md) for programs."});
  rows->Add(kAllCommands, Canonical::kNo,
            {"log_level", ChoiceTarget(&log_level, kLogLevels),
             "Lowest level of log messages to print."});
  rows->Add(kAllCommands, Canonical::kNo,
            {"print_config", ChoiceTarget(&print_config, kPrintConfig),
             "Flags to print at the start, before the memory that the job "
             "will take: true prints the flags that were given, all every flag "
             "in force, false neither flags nor memory."},
            HandedDown::kNo);
  rows->Add(kAllCommands, Canonical::kNo,
            {"progress_every", &progress_every,
             "Time between two lines of progress where the output is not a "
             "terminal.",
             DurationRange{absl::Milliseconds(50), absl::Hours(24)}});
}

}  // namespace shoal
