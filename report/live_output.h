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
  // Of a terminal that does not say how wide it is; the live line is cut to it.
  int columns = 80;
  // How often the live line is printed where there is no terminal.
  absl::Duration print_every = absl::Seconds(2);
};

// Options for the descriptor as it is: terminal or not.
LiveOutputOptions LiveOutputOptionsFor(int fd);

// Log lines, and below them one live line that stays the last. Thread-hostile.
class LiveOutput {
 public:
  explicit LiveOutput(LiveOutputOptions options) : options_(options) {}
  ~LiveOutput() { EndLive(); }
  LiveOutput(const LiveOutput&) = delete;
  LiveOutput& operator=(const LiveOutput&) = delete;

  // "prefix | line"; the colour of the prefix goes by `colour`, any number. No
  // prefix, no bar.
  void Line(absl::string_view prefix, int colour, absl::string_view line);

  // The new text of the live line. `now` decides whether it is printed where
  // there is no terminal.
  void Live(absl::string_view text, absl::Time now);

  // Leaves the live line where it is and begins a new one.
  void EndLive();

 private:
  // Asked anew each time: it changes as people pull at the window.
  int Columns() const;
  void Write(absl::string_view text);

  const LiveOutputOptions options_;
  std::string live_;  // shown at present on the terminal
  absl::Time last_print_ = absl::InfinitePast();
};

}  // namespace shoal

#endif  // SHOAL_REPORT_LIVE_OUTPUT_H_
