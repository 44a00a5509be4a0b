#ifndef SHOAL_CMD_PARSE_COMMAND_LINE_H_
#define SHOAL_CMD_PARSE_COMMAND_LINE_H_

#include <optional>
#include <string>
#include <vector>

#include "job/exit_code.h"
#include "launch/flag_set.h"
#include "launch/job_flags.h"

namespace shoal {

// Parses the arguments of a command into its set. A code to exit with if that
// is all there is to do: after --help was printed on stdout, or a complaint on
// stderr.
std::optional<ExitCode> ParseOrExit(FlagSet* set,
                                    const std::vector<std::string>& args);

// The same for the flags of a job, which are validated, and printed on stderr
// unless --print_config=false.
std::optional<ExitCode> ParseJobOrExit(JobFlags* flags, FlagSet* set,
                                       const std::vector<std::string>& args);

// Prints `status` on stderr as the command's complaint; returns `code`.
ExitCode Complain(const std::string& command, const absl::Status& status,
                  ExitCode code);

// The same of a command that reads or writes files: kExitUsage where a place is
// at fault (nothing is there, it may not be used, is of the wrong kind or
// taken), kExitFailed for all else, as of bad content or a full disk.
ExitCode Complain(const std::string& command, const absl::Status& status);

}  // namespace shoal

#endif  // SHOAL_CMD_PARSE_COMMAND_LINE_H_
