#include "launch/flags/output_flags.h"

#include "absl/strings/str_cat.h"

namespace shoal {
namespace {

constexpr Choice<LogLevel> kLogLevels[] = {{LogLevel::kDebug, "debug"},
                                           {LogLevel::kInfo, "info"},
                                           {LogLevel::kWarn, "warn"},
                                           {LogLevel::kError, "error"}};

constexpr Choice<LogTimeForm> kLogTimeForms[] = {
    {LogTimeForm::kFull, "full", "with date and time zone"},
    {LogTimeForm::kShort, "short", "time of day"},
    {LogTimeForm::kAuto, "auto", "short on a terminal, full elsewhere"}};
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
  rows->Add(kProcesses, Canonical::kNo,
            {"progress", ChoiceTarget(&progress, kProgressStyles),
             "Form of the lines about the job that parameter server 0, or "
             "worker 0 with --mode=ring, prints on stdout: text for people, "
             "json (docs/commands.md) for programs. Other processes print "
             "none. With json and none a process does not log how the job "
             "ended: its launcher does."});
  rows->Add(kAllCommands, Canonical::kNo,
            {"log_level", ChoiceTarget(&log_level, kLogLevels),
             "Lowest level of log messages to print."});
  // A launcher tells its processes what its own terminal wants.
  rows->Add(kAllCommands, Canonical::kNo,
            {"log_time", ChoiceTarget(&log_time, kLogTimeForms),
             absl::StrCat("Time at the begin of log lines: ",
                          ChoiceHelp(kLogTimeForms), ".")},
            HandedDown::kNo);
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
