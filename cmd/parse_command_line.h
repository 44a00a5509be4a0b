#ifndef SHOAL_CMD_PARSE_COMMAND_LINE_H_
#define SHOAL_CMD_PARSE_COMMAND_LINE_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "job/exit_code.h"
#include "launch/flag_set.h"
#include "launch/job_flags.h"

namespace shoal {

// Parses the arguments of a command into its flag set, and prints on stderr
// which flags are given several times. Returns an exit code if the command has
// nothing more to do: --help was printed on stdout, or an error on stderr.
std::optional<ExitCode> ParseOrExit(FlagSet* set,
                                    const std::vector<std::string>& args);

// The same for the flags of a job. Also validates the flags, fills
// flags->given, writes --write_config and prints the flags on stderr as
// --print_config says.
std::optional<ExitCode> ParseJobOrExit(JobFlags* flags, FlagSet* set,
                                       const std::vector<std::string>& args);
// The same for a command that takes flags from one more place: `fill` fills
// them after those of the command line, the environment and --config.
std::optional<ExitCode> ParseJobOrExit(
    JobFlags* flags, FlagSet* set, const std::vector<std::string>& args,
    absl::FunctionRef<absl::Status()> fill);

// Prints `status` on stderr as an error of the command. Returns `code`.
ExitCode Complain(const std::string& command, const absl::Status& status,
                  ExitCode code);

// The same for a command that reads or writes files. Returns kExitUsage if a
// path is wrong (it does not exist, may not be used, is of the wrong kind or
// already in use), and kExitFailed for all other errors, such as bad content or
// a full disk.
ExitCode Complain(const std::string& command, const absl::Status& status);

}  // namespace shoal

#endif  // SHOAL_CMD_PARSE_COMMAND_LINE_H_
