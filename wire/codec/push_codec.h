#ifndef SHOAL_WIRE_CODEC_PUSH_CODEC_H_
#define SHOAL_WIRE_CODEC_PUSH_CODEC_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/parameter_service.h"
#include "wire/codec/wire_buffer.h"

namespace shoal {

// The client's side of Push. The server's side is push_frame.h.

// Copies ids and gradients once. The caller's spans may be changed after the
// call. REQUIRES: request.batches passes CheckPushedBatches (a message without
// a batch would name batch (0,0,0)).
WireMessage EncodePushRequest(const PushRequest& request, WireBufferPool* pool,
                              CopyCounter* copies);

// Errors: FAILED_PRECONDITION (the reply answers another request), DATA_LOSS
// (the reply is malformed).
absl::Status DecodePushReply(absl::Span<const absl::string_view> fragments,
                             const CallIdentity& asked, PushReply* reply);

}  // namespace shoal

#endif  // SHOAL_WIRE_CODEC_PUSH_CODEC_H_
