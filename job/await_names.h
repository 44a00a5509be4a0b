#ifndef SHOAL_JOB_AWAIT_NAMES_H_
#define SHOAL_JOB_AWAIT_NAMES_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "base/logger.h"
#include "job/main_wait.h"
#include "launch/job_flags.h"

namespace shoal {

// An address that a process needs for its part in a job.
struct NeededAddress {
  std::string address;  // rpc/address.h
  std::string owner;    // for messages: "ps 1", or "this server"
  std::string advice;   // what to do if the name is wrong

  bool operator==(const NeededAddress& other) const {
    return address == other.address && owner == other.owner;
  }
};

// The addresses that the process of these flags needs: a server's own address,
// on which it listens, and those of the servers that it calls. Server 0 calls
// no server, any other server calls server 0, and a worker calls all of them.
// In a mode without servers: the address of worker 0, which listens there.
std::vector<NeededAddress> NeededAddresses(const JobFlags& flags);

// Looks a host name up. An error says why the name does not resolve.
using NameLookup = std::function<absl::Status(const std::string& host)>;

// Looks a host name up as all programs of this host do: in /etc/hosts, by DNS,
// or as /etc/nsswitch.conf says. May block for many seconds.
absl::Status SystemNameLookup(const std::string& host);

// Returns when every host name of `needed` resolves. The name of a host that
// has just started may be known later than the processes that look it up. Logs
// once which names are waited for, and each of them again when it resolves. An
// address that is a number is not looked up.
//
// Errors: INVALID_ARGUMENT at once for text that is not an address, or a name
// that can never resolve; DEADLINE_EXCEEDED if a name does not resolve within
// `timeout`; CANCELLED if a signal came. After these two errors a lookup that
// still blocks stays behind on a thread of its own until the process ends, so
// `lookup` owns all that it uses.
//
// To be called on the main thread, after wait->Begin().
absl::Status AwaitNames(const std::vector<NeededAddress>& needed,
                        absl::Duration timeout, MainWait* wait, Logger* logger,
                        NameLookup lookup = SystemNameLookup);

}  // namespace shoal

#endif  // SHOAL_JOB_AWAIT_NAMES_H_
