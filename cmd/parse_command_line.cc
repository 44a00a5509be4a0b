#include "cmd/parse_command_line.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <iostream>

#include "absl/strings/str_cat.h"
#include "base/path.h"

namespace shoal {
namespace {

// A file that cannot be written is better known before the job than after it.
absl::Status CheckSummary(const JobFlags& flags) {
  if (flags.summary.empty()) return absl::OkStatus();
  if (flags.command == Command::kPs && flags.task_index != 0) {
    return absl::OkStatus();  // ps 0 writes it
  }
  struct stat info;
  if (stat(flags.summary.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--summary=", flags.summary, " is a directory"));
  }
  const std::string directory(Dirname(flags.summary));
  if (access(directory.c_str(), W_OK | X_OK) != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("--summary=", flags.summary, ": cannot write to ",
                     directory, ": ", strerror(errno)));
  }
  return absl::OkStatus();
}

}  // namespace

ExitCode Complain(const std::string& command, const absl::Status& status,
                  ExitCode code) {
  std::cerr << command << ": " << status.message() << std::endl;
  return code;
}

std::optional<ExitCode> ParseOrExit(FlagSet* set,
                                    const std::vector<std::string>& args) {
  const absl::Status status = set->Parse(args);
  if (!status.ok()) return Complain(set->command(), status, kExitUsage);
  if (set->help_wanted()) {
    std::cout << set->Help() << std::flush;
    return kExitOk;
  }
  return std::nullopt;
}

std::optional<ExitCode> ParseJobOrExit(JobFlags* flags, FlagSet* set,
                                       const std::vector<std::string>& args) {
  if (const auto exit = ParseOrExit(set, args)) return exit;
  const absl::Status status = flags->Validate();
  if (!status.ok()) return Complain(set->command(), status, kExitUsage);
  const absl::Status summary = CheckSummary(*flags);
  if (!summary.ok()) return Complain(set->command(), summary, kExitUsage);
  if (flags->print_config) std::cerr << set->Resolved() << std::flush;
  return std::nullopt;
}

}  // namespace shoal
