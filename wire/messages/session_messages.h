#ifndef SHOAL_WIRE_MESSAGES_SESSION_MESSAGES_H_
#define SHOAL_WIRE_MESSAGES_SESSION_MESSAGES_H_

#include "absl/status/status.h"
#include "core/cluster_service.h"
#include "core/session_messages.h"
#include "proto/shoal.pb.h"

namespace shoal {

// As common_messages.h, for what travels on a session. SessionOpen, the first
// message of a stream, is none of core's messages: INVALID_ARGUMENT here, as is
// a message of a kind that is not known.
void ToProto(const SessionOpening& in, v1::SessionOpen* out);
absl::Status FromProto(const v1::SessionOpen& in, SessionOpening* out);

void ToProto(const ProcessMessage& in, v1::ProcessMessage* out);
absl::Status FromProto(const v1::ProcessMessage& in, ProcessMessage* out);

void ToProto(const CoordinatorMessage& in, v1::CoordinatorMessage* out);
absl::Status FromProto(const v1::CoordinatorMessage& in,
                       CoordinatorMessage* out);

}  // namespace shoal

#endif  // SHOAL_WIRE_MESSAGES_SESSION_MESSAGES_H_
