#ifndef SHOAL_LAUNCH_HOST_LIST_H_
#define SHOAL_LAUNCH_HOST_LIST_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace shoal {

// The entries of `h1:p,h2:p`. With `need_ports` each entry must end in a port
// in [1, 65535]; an IPv6 address with a port is in brackets. INVALID_ARGUMENT
// names the flag and the entry. With `need_ports` an entry that is given twice
// is refused, since two processes cannot share a port.
absl::StatusOr<std::vector<std::string>> ParseHostList(absl::string_view flag,
                                                       absl::string_view text,
                                                       bool need_ports);

// The host of an entry, `h1` or `h1:p`: without the port, brackets and a last
// dot, in lower case. Two entries of one host thus have one name if the user
// writes one name.
std::string HostOfEntry(absl::string_view entry);

// True for a host (HostOfEntry) that is every machine's own: localhost, ::1 and
// 127.*.
bool IsLoopbackHost(absl::string_view host);

}  // namespace shoal

#endif  // SHOAL_LAUNCH_HOST_LIST_H_
