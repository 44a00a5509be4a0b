#include "cmd/parse_command_line.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <iostream>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/types/span.h"
#include "base/file_system.h"
#include "base/output_path.h"
#include "base/path.h"
#include "base/status_macros.h"
#include "cmd/own_terminal.h"
#include "launch/config_file.h"
#include "launch/environment/cluster_environment.h"
#include "launch/environment/rank_environment.h"

namespace shoal {
namespace {

// Finds out before the job, not after it, that an output of the job cannot be
// written. `name` is the value of `flag`; empty: there is no such output.
absl::Status CheckWritable(absl::string_view flag, const std::string& name) {
  if (name.empty()) return absl::OkStatus();
  const absl::StatusOr<std::string> path = OutputPath(name);
  if (!path.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat(flag, "=", path.status().message()));
  }
  const std::string directory(Dirname(*path));
  if (access(directory.c_str(), W_OK | X_OK) != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(flag, "=", name, ": cannot write to ", directory, ": ",
                     strerror(errno)));
  }
  return absl::OkStatus();
}

absl::Status CheckOutputsWritable(const JobFlags& flags) {
  if (!flags.cluster.hosts.empty()) {
    // Another host writes the rest.
    return CheckWritable("--summary", flags.output.summary);
  }
  if (flags.Leads()) {
    SHOAL_RETURN_IF_ERROR(CheckWritable("--summary", flags.output.summary));
  }
  if (flags.command == Command::kPs || flags.cluster.task_index != 0) {
    return absl::OkStatus();
  }
  return CheckWritable("--record_compute", flags.compute.record_compute);
}

// Writes --write_config, unless `name` is empty or the file has this text
// already, as when the same command is given again. Any other file that exists
// is an error.
absl::Status WriteConfig(const FlagSet& set, const std::string& name) {
  if (name.empty()) return absl::OkStatus();
  const std::string flag = absl::StrCat("--write_config=", name);
  const std::unique_ptr<FileSystem> files = NewPosixFileSystem();
  const std::string text = ConfigText(set);
  const absl::StatusOr<std::string> path = OutputPath(name);
  if (!path.ok()) return Annotate(path.status(), flag);
  const auto present = files->OpenForRead(*path);
  if (absl::IsNotFound(present.status())) {
    return Annotate(WriteOutput(*files, name, text), flag);
  }
  if (present.ok() && (*present)->size() == text.size()) {
    std::string old(text.size(), '\0');
    const auto size = (*present)->Read(0, absl::MakeSpan(&old[0], old.size()));
    if (size.ok() && *size == text.size() && old == text) {
      return absl::OkStatus();
    }
  }
  return absl::FailedPreconditionError(
      absl::StrCat(flag,
                   ": the file exists already, and is never overwritten: give "
                   "another name, or remove it first"));
}

// All variables of this process's environment; launch/environment/ chooses
// among them.
Environment OwnEnvironment() {
  Environment environment;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::pair<std::string, std::string> variable =
        absl::StrSplit(*entry, absl::MaxSplits('=', 1));
    environment.insert(variable);
  }
  return environment;
}

// True for a process that a launcher has started with the flags of its leader,
// which has printed and written them already.
bool IsOneOfEqualRanks(const JobFlags& flags) {
  return flags.cluster.launched.has_value() && !flags.Leads();
}

// Fills the flags that were not typed: from the environment, then from
// --config, then by `fill`.
absl::Status FillFlags(JobFlags* flags, FlagSet* set,
                       absl::FunctionRef<absl::Status()> fill) {
  const Environment environment = OwnEnvironment();
  std::vector<FlagSetting> config;
  if (!flags->config_files.config.empty()) {
    auto read =
        ReadConfigFile(*NewPosixFileSystem(), flags->config_files.config);
    SHOAL_RETURN_IF_ERROR(absl::IsInvalidArgument(read.status())
                              ? read.status()
                              : Annotate(read.status(), "--config"));
    config = *std::move(read);
  }
  // What the environment says depends on the mode.
  for (const FlagSetting& setting : config) {
    if (setting.name == "mode") SHOAL_RETURN_IF_ERROR(set->Fill({setting}));
  }
  const bool placed = (set->given("ps_hosts") || !flags->HasServers()) &&
                      set->given("worker_hosts") &&
                      set->given("task_index");
  if (!placed) {
    SHOAL_ASSIGN_OR_RETURN(
        const std::vector<FlagSetting> cluster,
        ClusterFromEnvironment(environment, flags->command));
    SHOAL_RETURN_IF_ERROR(set->Fill(cluster));
  }
  SHOAL_RETURN_IF_ERROR(FillRank(environment, flags, set));
  SHOAL_RETURN_IF_ERROR(set->Fill(config));
  SHOAL_RETURN_IF_ERROR(CheckIndexBesideRank(environment, *flags, *set));
  // Without those of `fill`: they are the checkpoint's.
  flags->given = set->Given();
  SHOAL_RETURN_IF_ERROR(fill());
  return set->CheckRequired();
}

}  // namespace

ExitCode Complain(const std::string& command, const absl::Status& status,
                  ExitCode code) {
  std::cerr << command << ": " << status.message() << std::endl;
  return code;
}

ExitCode Complain(const std::string& command, const absl::Status& status) {
  const bool place = absl::IsNotFound(status) ||
                     absl::IsPermissionDenied(status) ||
                     absl::IsFailedPrecondition(status);
  return Complain(command, status, place ? kExitUsage : kExitFailed);
}

std::optional<ExitCode> ParseOrExit(FlagSet* set,
                                    const std::vector<std::string>& args) {
  const absl::Status status = set->Parse(args);
  if (!status.ok()) return Complain(set->command(), status, kExitUsage);
  if (set->help_wanted()) {
    return PrintResult(set->command(), set->Help());
  }
  std::cerr << set->repeated() << std::flush;
  return std::nullopt;
}

std::optional<ExitCode> ParseJobOrExit(JobFlags* flags, FlagSet* set,
                                       const std::vector<std::string>& args) {
  return ParseJobOrExit(flags, set, args, [] { return absl::OkStatus(); });
}

std::optional<ExitCode> ParseJobOrExit(
    JobFlags* flags, FlagSet* set, const std::vector<std::string>& args,
    absl::FunctionRef<absl::Status()> fill) {
  flags->output.terminal = StderrTerminal();
  const absl::Status read = set->ReadArguments(args);
  if (!read.ok()) return Complain(set->command(), read, kExitUsage);
  if (set->help_wanted()) {
    return PrintResult(set->command(), set->Help());
  }
  std::cerr << set->repeated() << std::flush;
  const std::string whole_jobs =
      WholeJobsWarning(OwnEnvironment(), flags->command);
  if (!whole_jobs.empty()) std::cerr << whole_jobs << std::endl;
  const absl::Status filled = FillFlags(flags, set, fill);
  if (!filled.ok()) {
    return Complain(set->command(), filled,
                    absl::IsDataLoss(filled) ? kExitFailed : kExitUsage);
  }
  const absl::Status status = flags->Validate();
  if (!status.ok()) return Complain(set->command(), status, kExitUsage);
  const absl::Status summary = CheckOutputsWritable(*flags);
  if (!summary.ok()) return Complain(set->command(), summary, kExitUsage);
  if (IsOneOfEqualRanks(*flags)) {
    if (!set->given("print_config")) {
      flags->output.print_config = PrintConfig::kNone;
    }
  } else {
    const absl::Status written =
        WriteConfig(*set, flags->config_files.write_config);
    if (!written.ok()) return Complain(set->command(), written, kExitUsage);
  }
  if (flags->output.print_config == PrintConfig::kGiven) {
    std::cerr << set->ResolvedGiven(
                     OnlyScores(flags->command)
                         ? "flags given, and those of the checkpoint"
                         : "flags given")
              << std::flush;
  } else if (flags->output.print_config == PrintConfig::kAll) {
    std::cerr << set->Resolved() << std::flush;
  }
  if (flags->output.print_config != PrintConfig::kNone) {
    std::cerr << flags->optimizers.ScaledRates() << std::flush;
  }
  return std::nullopt;
}

}  // namespace shoal
