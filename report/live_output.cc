#include "report/live_output.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "absl/strings/str_cat.h"
#include "base/log_time.h"

namespace shoal {
namespace {

constexpr absl::string_view kPlain = "\x1b[0m";

// Six colours that can be read on black and on white.
std::string Coloured(absl::string_view text, int colour) {
  return absl::StrCat("\x1b[", 31 + colour % 6, "m", text, kPlain);
}

}  // namespace

void LiveOutput::Line(absl::string_view prefix, int colour,
                      absl::string_view line) {
  std::string text;
  if (!live_.empty()) absl::StrAppend(&text, Erase());
  if (!prefix.empty()) {
    absl::StrAppend(
        &text,
        options_.terminal.escapes ? Coloured(prefix, colour)
                                  : std::string(prefix),
        " | ");
  }
  absl::StrAppend(&text, line, "\n", LiveLine(live_, Columns()));
  Write(text);
}

void LiveOutput::Live(const LiveParts& parts, absl::Time now) {
  if (options_.terminal.redraws) {
    const std::string erase = Erase();
    live_ = parts;
    Write(absl::StrCat(erase, LiveLine(live_, Columns())));
  } else if (now - last_print_ >= options_.print_every) {
    last_print_ = now;
    const std::string time =
        options_.stamp ? absl::StrCat(LogTime(now, options_.full_time), " ")
                       : "";
    const int columns = Columns();
    const int room =
        columns == 0 ? 0 : std::max(1, columns - static_cast<int>(time.size()));
    Write(absl::StrCat(time, LiveLine(parts, room), "\n"));
  }
}

void LiveOutput::EndLive() {
  if (!live_.empty()) Write("\n");
  live_.clear();
}

int LiveOutput::Columns() const {
  if (!options_.terminal.shown) return 0;
  return std::max(TerminalColumns(options_.fd, options_.columns) - 1, 1);
}

std::string LiveOutput::Erase() const {
  // The log of the process may have written a line in place of the live line.
  return EraseLine(options_.terminal, Columns());
}

void LiveOutput::Write(absl::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(options_.fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    // The reader of the output is gone or stuck: the job goes on without it.
    if (written <= 0) return;
    text.remove_prefix(written);
  }
}

}  // namespace shoal
