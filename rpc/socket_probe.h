#ifndef SHOAL_RPC_SOCKET_PROBE_H_
#define SHOAL_RPC_SOCKET_PROBE_H_

#include <string>

#include "absl/status/status.h"

namespace shoal {

// Connects to the Unix socket `path` and closes the connection. OK: a process
// listens there, even if it is frozen. Errors:
//   UNAVAILABLE         no process listens there any more
//   NOT_FOUND           there is no such file
//   PERMISSION_DENIED   this process may not connect
//   INVALID_ARGUMENT    the file is no socket, or the path is too long for one
//   UNKNOWN             anything else
absl::Status ProbeSocket(const std::string& path);

}  // namespace shoal

#endif  // SHOAL_RPC_SOCKET_PROBE_H_
