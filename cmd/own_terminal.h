#ifndef SHOAL_CMD_OWN_TERMINAL_H_
#define SHOAL_CMD_OWN_TERMINAL_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "base/terminal.h"
#include "job/exit_code.h"
#include "report/live_output.h"

namespace shoal {

// The terminal that stderr is, by the variables TERM and NO_COLOR.
Terminal StderrTerminal();

// For the live line of a command on stderr.
LiveOutputOptions StderrOutput();

// Writes the result of a command to standard output. Returns `code`; or
// kExitFailed, and says so on stderr, if the result could not be written.
ExitCode PrintResult(absl::string_view command, absl::string_view text,
                     ExitCode code = kExitOk);

}  // namespace shoal

#endif  // SHOAL_CMD_OWN_TERMINAL_H_
