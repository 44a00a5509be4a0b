#include "report/live_output.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>

#include "absl/strings/str_cat.h"

namespace shoal {
namespace {

constexpr absl::string_view kEraseLine = "\r\x1b[K";
constexpr absl::string_view kPlain = "\x1b[0m";

// Six colours that can be read on black and on white.
std::string Coloured(absl::string_view text, int colour) {
  return absl::StrCat("\x1b[", 31 + colour % 6, "m", text, kPlain);
}

}  // namespace

LiveOutputOptions LiveOutputOptionsFor(int fd) {
  LiveOutputOptions options;
  options.fd = fd;
  options.terminal = isatty(fd) == 1;
  return options;
}

void LiveOutput::Line(absl::string_view prefix, int colour,
                      absl::string_view line) {
  std::string text;
  if (!live_.empty()) absl::StrAppend(&text, kEraseLine);
  if (!prefix.empty()) {
    absl::StrAppend(
        &text,
        options_.terminal ? Coloured(prefix, colour) : std::string(prefix),
        " | ");
  }
  absl::StrAppend(&text, line, "\n", live_);
  Write(text);
}

void LiveOutput::Live(absl::string_view text, absl::Time now) {
  if (options_.terminal) {
    live_ = std::string(text.substr(0, Columns() - 1));
    Write(absl::StrCat(kEraseLine, live_));
  } else if (now - last_print_ >= options_.print_every) {
    last_print_ = now;
    Write(absl::StrCat(text, "\n"));
  }
}

void LiveOutput::EndLive() {
  if (!live_.empty()) Write("\n");
  live_.clear();
}

int LiveOutput::Columns() const {
  winsize size;
  const bool known =
      ioctl(options_.fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : options_.columns;
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
