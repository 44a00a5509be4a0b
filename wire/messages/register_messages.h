#ifndef SHOAL_WIRE_MESSAGES_REGISTER_MESSAGES_H_
#define SHOAL_WIRE_MESSAGES_REGISTER_MESSAGES_H_

#include "absl/status/status.h"
#include "core/registration.h"
#include "proto/shoal.pb.h"

namespace shoal {

// As common_messages.h.
void ToProto(const RegisterRequest& in, v1::RegisterRequest* out);
// FAILED_PRECONDITION names both protocol versions where they differ: what the
// other fields of another version mean is not known.
absl::Status FromProto(const v1::RegisterRequest& in, RegisterRequest* out);

void ToProto(const RegisterReply& in, v1::RegisterReply* out);
absl::Status FromProto(const v1::RegisterReply& in, RegisterReply* out);

}  // namespace shoal

#endif  // SHOAL_WIRE_MESSAGES_REGISTER_MESSAGES_H_
