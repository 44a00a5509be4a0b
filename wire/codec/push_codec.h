#ifndef SHOAL_WIRE_CODEC_PUSH_CODEC_H_
#define SHOAL_WIRE_CODEC_PUSH_CODEC_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/parameter_service.h"
#include "wire/codec/wire_buffer.h"

namespace shoal {

// The client's side of Push. The server's side is push_frame.h.

// Ids and gradients are copied once, so the caller's spans are free after it.
WireMessage EncodePushRequest(const PushRequest& request, WireBufferPool* pool,
                              CopyCounter* copies);

// Errors: FAILED_PRECONDITION (the answer to something else), DATA_LOSS
// (malformed).
absl::Status DecodePushReply(absl::Span<const absl::string_view> fragments,
                             const CallIdentity& asked, PushReply* reply);

}  // namespace shoal

#endif  // SHOAL_WIRE_CODEC_PUSH_CODEC_H_
