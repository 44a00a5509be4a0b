#ifndef SHOAL_LAUNCH_SSH_COMMAND_H_
#define SHOAL_LAUNCH_SSH_COMMAND_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace shoal {

// Most workers that --hosts starts on one host.
inline constexpr int kWorkersOfHostMax = 256;

// A host of --hosts.
struct RemoteHost {
  std::string target;   // argument of ssh: "h1" or "user@h1"
  std::string address;  // address of the host's processes: "h1"
  int workers = 1;      // number of workers to start there

  // The address with a port: "h1:2223". An IPv6 address is in brackets.
  std::string WithPort(int port) const;
};

// The entries of `h1,user@h2,h3:4,…`: `host:n` stands for n workers on the
// host, in [1, kWorkersOfHostMax], and an entry without a number for
// `worker_per_host`. An IPv6 address with a number is in brackets.
// INVALID_ARGUMENT names an entry that is empty, holds white space, has another
// number, is given twice, or that ssh would take for an option.
absl::StatusOr<std::vector<RemoteHost>> ParseRemoteHosts(
    absl::string_view text, int worker_per_host = 1);

// `word` quoted as one word of a POSIX shell, whatever characters it holds.
std::string ShellQuote(absl::string_view word);

// The arguments of a local process that runs `remote` on `host`: the words of
// `ssh_command`, which are separated by white space, then the host, then the
// quoted command. The program of `ssh_command` is looked up in PATH. The
// command replaces the remote shell, so that the connection ends when the
// command ends.
std::vector<std::string> SshArguments(absl::string_view ssh_command,
                                      const RemoteHost& host,
                                      const std::vector<std::string>& remote);

// A way to reach hosts: the arguments of a local process that runs `command` on
// `host`. The end of the local process is that of the command, and its stdin,
// stdout and stderr are those of the command. The first argument is a path.
using HostCommand = std::function<std::vector<std::string>(
    const RemoteHost& host, const std::vector<std::string>& command)>;

// SshArguments as a HostCommand.
HostCommand BySsh(std::string ssh_command);

}  // namespace shoal

#endif  // SHOAL_LAUNCH_SSH_COMMAND_H_
