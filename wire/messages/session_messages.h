#ifndef SHOAL_WIRE_MESSAGES_SESSION_MESSAGES_H_
#define SHOAL_WIRE_MESSAGES_SESSION_MESSAGES_H_

#include "absl/status/status.h"
#include "core/cluster_service.h"
#include "core/session_messages.h"
#include "proto/shoal.pb.h"

namespace shoal {

// Conversions of the messages of a session, with the contract of
// common_messages.h. SessionOpen, the first message of a stream, is not one of
// core's ProcessMessages: FromProto returns INVALID_ARGUMENT for it, and for
// messages of unknown kinds.
void ToProto(const SessionOpening& in, v1::SessionOpen* out);
absl::Status FromProto(const v1::SessionOpen& in, SessionOpening* out);

void ToProto(const ProcessMessage& in, v1::ProcessMessage* out);
absl::Status FromProto(const v1::ProcessMessage& in, ProcessMessage* out);

void ToProto(const CoordinatorMessage& in, v1::CoordinatorMessage* out);
absl::Status FromProto(const v1::CoordinatorMessage& in,
                       CoordinatorMessage* out);

}  // namespace shoal

#endif  // SHOAL_WIRE_MESSAGES_SESSION_MESSAGES_H_
