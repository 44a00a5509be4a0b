#ifndef SHOAL_REPORT_LIVE_OUTPUT_H_
#define SHOAL_REPORT_LIVE_OUTPUT_H_

#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/terminal.h"
#include "report/live_line.h"

namespace shoal {

struct LiveOutputOptions {
  int fd = 2;
  // The live line is rewritten in place on a terminal that redraws, and
  // prefixes are coloured on one that takes escape sequences.
  Terminal terminal = {};
  // Width of a terminal that does not report its width. The live line is made
  // for the width.
  int columns = 80;
  // Time between two live lines where they are not rewritten.
  absl::Duration print_every = absl::Seconds(2);
  // A live line that is not rewritten begins with the time (base/log_time.h),
  // with date and zone if full_time is true.
  bool stamp = false;
  bool full_time = true;
};

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

  // Sets the live line. Where it is not rewritten, `now` decides whether it is
  // printed.
  void Live(const LiveParts& parts, absl::Time now);

  // Leaves the live line in the output and begins a new line.
  void EndLive();

 private:
  // The most characters of a live line now: one less than the terminal has, so
  // that no terminal begins a new line by itself. 0: no limit.
  int Columns() const;
  // Text that erases the live line.
  std::string Erase() const;
  void Write(absl::string_view text);

  const LiveOutputOptions options_;
  LiveParts live_;  // those of the live line that the terminal shows
  absl::Time last_print_ = absl::InfinitePast();
};

}  // namespace shoal

#endif  // SHOAL_REPORT_LIVE_OUTPUT_H_
