#include "cmd/own_terminal.h"

#include <stdlib.h>
#include <unistd.h>

#include <string>

#include "cmd/parse_command_line.h"
#include "report/standard_output.h"

namespace shoal {
namespace {

std::string Variable(const char* name) {
  const char* const value = getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

Terminal StderrTerminal() {
  return TerminalOf(STDERR_FILENO, Variable("TERM"), Variable("NO_COLOR"));
}

LiveOutputOptions StderrOutput() {
  LiveOutputOptions options;
  options.fd = STDERR_FILENO;
  options.terminal = StderrTerminal();
  return options;
}

ExitCode PrintResult(absl::string_view command, absl::string_view text,
                     ExitCode code) {
  const absl::Status written = WriteStandardOutput(text);
  if (written.ok()) return code;
  return Complain(std::string(command), written, kExitFailed);
}

}  // namespace shoal
