#ifndef SHOAL_WIRE_MESSAGES_REGISTER_MESSAGES_H_
#define SHOAL_WIRE_MESSAGES_REGISTER_MESSAGES_H_

#include "absl/status/status.h"
#include "core/registration.h"
#include "proto/shoal.pb.h"

namespace shoal {

// Conversions of registration messages, with the contract of common_messages.h.
void ToProto(const RegisterRequest& in, v1::RegisterRequest* out);
// FAILED_PRECONDITION if the protocol versions differ; the message names both.
// The other fields are then not read, because they may mean something else.
absl::Status FromProto(const v1::RegisterRequest& in, RegisterRequest* out);

void ToProto(const RegisterReply& in, v1::RegisterReply* out);
absl::Status FromProto(const v1::RegisterReply& in, RegisterReply* out);

}  // namespace shoal

#endif  // SHOAL_WIRE_MESSAGES_REGISTER_MESSAGES_H_
