#ifndef SHOAL_JOB_LOOPBACK_ADVICE_H_
#define SHOAL_JOB_LOOPBACK_ADVICE_H_

#include <string>

namespace shoal {

// A warning if no other host can reach a server that listens on `address`,
// because the host's name is a loopback address on this host: Debian's
// installer writes "127.0.1.1 NAME" into /etc/hosts. Returns "" if other hosts
// can reach it, if the name does not resolve, and for an address that says
// itself that it is for this host alone ("127.0.0.1:2223"). `has_listen`: the
// process has the flag --listen.
std::string LoopbackAdvice(const std::string& address, bool has_listen = true);

}  // namespace shoal

#endif  // SHOAL_JOB_LOOPBACK_ADVICE_H_
