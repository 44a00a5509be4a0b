#ifndef SHOAL_LAUNCH_SSH_COMMAND_H_
#define SHOAL_LAUNCH_SSH_COMMAND_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace shoal {

// A host of --hosts.
struct RemoteHost {
  std::string target;   // what ssh is given: "h1" or "user@h1"
  std::string address;  // where others reach its processes: "h1"

  // "h1:2223", an IPv6 address in brackets.
  std::string WithPort(int port) const;
};

// The entries of `h1,user@h2,…`. INVALID_ARGUMENT: an empty entry, one that ssh
// would take for an option or that holds white space, one that is there twice.
absl::StatusOr<std::vector<RemoteHost>> ParseRemoteHosts(
    absl::string_view text);

// `word` as one word of a POSIX shell, whatever it holds.
std::string ShellQuote(absl::string_view word);

// The arguments with which a local process runs `remote` on `host`:
// `ssh_command` cut at white space, found in PATH, then the host and the
// command, quoted. The remote shell is replaced by it, so that its end is the
// connection's.
std::vector<std::string> SshArguments(absl::string_view ssh_command,
                                      const RemoteHost& host,
                                      const std::vector<std::string>& remote);

}  // namespace shoal

#endif  // SHOAL_LAUNCH_SSH_COMMAND_H_
