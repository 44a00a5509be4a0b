#include "job/job_token.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/clock.h"
#include "base/status_macros.h"
#include "core/registration.h"
#include "rpc/keepalive.h"
#include "rpc/token.h"

namespace shoal {

namespace {

// Reads one line and no byte after it: later bytes are for other readers.
absl::StatusOr<std::string> ReadTokenLine(int fd, absl::Duration timeout) {
  constexpr size_t kLengthMax = 512;
  const RealClock clock;
  const absl::Time deadline = clock.Now() + timeout;
  std::string line;
  while (line.size() <= kLengthMax) {
    pollfd ready = {fd, POLLIN, 0};
    const int64_t left = absl::ToInt64Milliseconds(deadline - clock.Now());
    if (left <= 0 || poll(&ready, 1, static_cast<int>(left)) == 0) {
      return absl::DeadlineExceededError(
          absl::StrCat("--token_file=-: no line came from stdin within ",
                       absl::FormatDuration(timeout)));
    }
    char c;
    const ssize_t size = read(fd, &c, 1);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) {
      return absl::InvalidArgumentError(
          "--token_file=-: stdin ended before the first line was complete");
    }
    if (c == '\n') break;
    line.push_back(c);
  }
  SHOAL_RETURN_IF_ERROR(Annotate(CheckToken(line), "--token_file=-"));
  return line;
}

}  // namespace

absl::StatusOr<std::string> JobToken(const JobFlags& flags) {
  if (flags.cluster.token_file.empty()) return std::string();
  if (flags.cluster.token_file == "-") {
    return ReadTokenLine(STDIN_FILENO, flags.deadlines.start_timeout);
  }
  return ReadTokenFile(flags.cluster.token_file);
}

namespace {

// `peer` listens at `address`.
ChannelOptions ChannelTo(std::string address, std::string peer,
                         const JobFlags& flags, const std::string& token) {
  ChannelOptions options;
  options.address = std::move(address);
  options.peer = std::move(peer);
  options.token = token;
  options.max_message_bytes =
      static_cast<uint64_t>(flags.limits.max_message_bytes);
  const Keepalive keepalive = KeepaliveFor(flags.deadlines.silent_after);
  options.keepalive_time = keepalive.time;
  options.keepalive_timeout = keepalive.timeout;
  return options;
}

}  // namespace

ChannelOptions CoordinatorChannelFromFlags(const JobFlags& flags,
                                           const std::string& token) {
  const Role role = flags.HasServers() ? Role::kPs : Role::kWorker;
  return ChannelTo(flags.CoordinatorAddress(), ProcessName(role, 0), flags,
                   token);
}

ChannelOptions ChannelOptionsFromFlags(const JobFlags& flags,
                                       const std::string& token, int index) {
  const std::vector<std::string> hosts =
      absl::StrSplit(flags.cluster.ps_hosts, ',');
  return ChannelTo(hosts[index], ProcessName(Role::kPs, index), flags, token);
}

}  // namespace shoal
