#ifndef SHOAL_BASE_TERMINAL_H_
#define SHOAL_BASE_TERMINAL_H_

#include <string>

#include "absl/strings/string_view.h"

namespace shoal {

// The things that a terminal takes besides lines of text. All false: a file, a
// pipe, or a terminal that a test stands for.
struct Terminal {
  bool shown = false;    // a person reads each line when it comes
  bool redraws = false;  // "\r" returns to the begin of the line
  bool escapes = false;  // colours, and the sequence that erases a line
};

// The terminal behind descriptor `fd`. `term` and `no_color` are the values of
// the environment variables TERM and NO_COLOR; empty: not set. TERM=dumb takes
// lines alone; with NO_COLOR no escape sequence is written, and "\r" still
// rewrites a line.
Terminal TerminalOf(int fd, absl::string_view term, absl::string_view no_color);

// The width of the terminal now, which changes when a user resizes the window;
// `otherwise` if the descriptor does not report a width.
int TerminalColumns(int fd, int otherwise);

// The text that makes the current line empty, with the cursor at its begin, on
// a terminal that redraws. `columns`: the most that the line may hold, in
// characters.
std::string EraseLine(const Terminal& terminal, int columns);

}  // namespace shoal

#endif  // SHOAL_BASE_TERMINAL_H_
