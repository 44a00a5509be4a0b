#include "cmd/parse_command_line.h"

#include <iostream>

namespace shoal {

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
  if (flags->print_config) std::cerr << set->Resolved() << std::flush;
  return std::nullopt;
}

}  // namespace shoal
