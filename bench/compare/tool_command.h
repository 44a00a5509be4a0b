#ifndef SHOAL_BENCH_COMPARE_TOOL_COMMAND_H_
#define SHOAL_BENCH_COMPARE_TOOL_COMMAND_H_

#include <string>
#include <vector>

#include "absl/status/status.h"

namespace shoal {

// Runs a command of the system, as `ip` or `tc`, to its end, within 30 s. The
// program is looked up in PATH. NOT_FOUND: there is no such program.
// UNAVAILABLE, with the command and its last line: the command failed. Signals
// to this process stay pending if they are blocked. Thread-hostile, as
// StartChild.
absl::Status RunTool(const std::vector<std::string>& command);

}  // namespace shoal

#endif  // SHOAL_BENCH_COMPARE_TOOL_COMMAND_H_
