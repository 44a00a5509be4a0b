#ifndef SHOAL_LAUNCH_SSH_COMMAND_H_
#define SHOAL_LAUNCH_SSH_COMMAND_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace shoal {

// A host of --hosts.
struct RemoteHost {
  std::string target;   // argument of ssh: "h1" or "user@h1"
  std::string address;  // address of the host's processes: "h1"

  // The address with a port: "h1:2223". An IPv6 address is in brackets.
  std::string WithPort(int port) const;
};

// The entries of `h1,user@h2,…`. INVALID_ARGUMENT: an entry is empty, holds
// white space, is given twice, or ssh would take it for an option.
absl::StatusOr<std::vector<RemoteHost>> ParseRemoteHosts(
    absl::string_view text);

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

}  // namespace shoal

#endif  // SHOAL_LAUNCH_SSH_COMMAND_H_
