#ifndef SHOAL_COORDINATOR_SENDER_CHECK_H_
#define SHOAL_COORDINATOR_SENDER_CHECK_H_

#include "absl/status/status.h"
#include "cluster/membership.h"
#include "core/session_messages.h"

namespace shoal {

// Whether a process of this role may send such a message at all: leases and
// scores are for workers, marks and shards for PSs. INVALID_ARGUMENT names the
// process and the message.
absl::Status CheckSender(const Member& from, const ProcessMessage& message);

}  // namespace shoal

#endif  // SHOAL_COORDINATOR_SENDER_CHECK_H_
