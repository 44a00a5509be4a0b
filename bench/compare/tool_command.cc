#include "bench/compare/tool_command.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/status_macros.h"
#include "launch/child_process.h"

namespace shoal {
namespace {

constexpr absl::Duration kDeadline = absl::Seconds(30);
constexpr int kNoSuchProgram = 127;  // the exit code of env

// Appends what there is to read; true at the end.
bool Drain(int fd, std::string* text) {
  char buffer[4096];
  for (;;) {
    const ssize_t size = read(fd, buffer, sizeof(buffer));
    if (size > 0) {
      text->append(buffer, size);
    } else if (size == 0 || (errno != EINTR && errno != EAGAIN)) {
      return true;
    } else if (errno == EAGAIN) {
      return false;
    }
  }
}

}  // namespace

absl::Status RunTool(const std::vector<std::string>& command) {
  std::vector<std::string> argv = {"/usr/bin/env"};
  argv.insert(argv.end(), command.begin(), command.end());
  SHOAL_ASSIGN_OR_RETURN(const ChildProcess child, StartChild(argv));
  const RealClock clock;
  const absl::Time give_up = clock.Now() + kDeadline;
  std::string text;
  bool out_open = true, err_open = true;
  bool killed = false;
  ProcessExit exit;
  while (!ReapChild(child.pid, &exit)) {
    if (!killed && clock.Now() >= give_up) {
      SignalGroup(child.pid, SIGKILL);
      killed = true;
    }
    // The end of the pipes comes just before that of the process.
    pollfd fds[] = {{out_open ? child.out : -1, POLLIN, 0},
                    {err_open ? child.err : -1, POLLIN, 0}};
    poll(fds, 2, out_open || err_open ? 100 : 1);
    if (out_open && fds[0].revents != 0) out_open = !Drain(child.out, &text);
    if (err_open && fds[1].revents != 0) err_open = !Drain(child.err, &text);
  }
  if (out_open) Drain(child.out, &text);
  if (err_open) Drain(child.err, &text);
  close(child.out);
  close(child.err);
  if (exit.ok()) return absl::OkStatus();
  if (exit.signal == 0 && exit.code == kNoSuchProgram) {
    return absl::NotFoundError(absl::StrCat(
        "the program `", command[0],
        "` is not installed (Debian package iproute2)"));
  }
  const std::vector<std::string> lines =
      absl::StrSplit(absl::StripAsciiWhitespace(text), '\n');
  return absl::UnavailableError(absl::StrCat(
      "`", absl::StrJoin(command, " "), "` ", exit.Describe(),
      lines.back().empty() ? "" : ": ", lines.back()));
}

}  // namespace shoal
