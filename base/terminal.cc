#include "base/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace shoal {

Terminal TerminalOf(int fd, absl::string_view term,
                    absl::string_view no_color) {
  Terminal terminal;
  terminal.shown = isatty(fd) == 1;
  terminal.redraws = terminal.shown && term != "dumb";
  terminal.escapes = terminal.redraws && no_color.empty();
  return terminal;
}

int TerminalColumns(int fd, int otherwise) {
  winsize size;
  const bool known = ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : otherwise;
}

std::string EraseLine(const Terminal& terminal, int columns) {
  if (!terminal.redraws) return "";
  if (terminal.escapes) return "\r\x1b[K";
  return absl::StrCat("\r", std::string(std::max(columns, 0), ' '), "\r");
}

}  // namespace shoal
