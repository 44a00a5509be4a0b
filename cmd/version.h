#ifndef SHOAL_CMD_VERSION_H_
#define SHOAL_CMD_VERSION_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "job/exit_code.h"

namespace shoal {

// The version of the project, the protocol and the checkpoint format, as in
// "shoal 0.5.0, protocol 1, checkpoint format 1". Two builds work together if
// their protocols are equal, and read each other's checkpoints if the formats
// are equal.
std::string VersionText(absl::string_view binary);

// If `args` begin with --version, prints the version on stdout and returns the
// exit code.
std::optional<ExitCode> PrintVersion(const std::vector<std::string>& args,
                                     absl::string_view binary);

}  // namespace shoal

#endif  // SHOAL_CMD_VERSION_H_
