#ifndef SHOAL_REPORT_LIVE_OUTPUT_H_
#define SHOAL_REPORT_LIVE_OUTPUT_H_

#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace shoal {

struct LiveOutputOptions {
  int fd = 2;
  // Rewrite the live line in place and colour prefixes.
  bool terminal = false;
  // Width of a terminal that does not report its width. The live line is cut to
  // the width.
  int columns = 80;
  // Time between two live lines if there is no terminal.
  absl::Duration print_every = absl::Seconds(2);
};

// Options for descriptor `fd`, which is a terminal or not.
LiveOutputOptions LiveOutputOptionsFor(int fd);

// Log lines, and below them one live line that stays the last. Thread-hostile.
class LiveOutput {
 public:
  explicit LiveOutput(LiveOutputOptions options) : options_(options) {}
  ~LiveOutput() { EndLive(); }
  LiveOutput(const LiveOutput&) = delete;
  LiveOutput& operator=(const LiveOutput&) = delete;

  // Prints "prefix | line", or the line alone if the prefix is empty. `colour`,
  // any number, chooses the colour of the prefix.
  void Line(absl::string_view prefix, int colour, absl::string_view line);

  // Sets the text of the live line. Without a terminal, `now` decides whether
  // it is printed.
  void Live(absl::string_view text, absl::Time now);

  // Leaves the live line in the output and begins a new line.
  void EndLive();

 private:
  // The width of the terminal now: it changes when a user resizes the window.
  int Columns() const;
  void Write(absl::string_view text);

  const LiveOutputOptions options_;
  std::string live_;  // the live line that the terminal shows
  absl::Time last_print_ = absl::InfinitePast();
};

}  // namespace shoal

#endif  // SHOAL_REPORT_LIVE_OUTPUT_H_
