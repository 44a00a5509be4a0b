#ifndef SHOAL_WIRE_CODEC_PULL_CODEC_H_
#define SHOAL_WIRE_CODEC_PULL_CODEC_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/parameter_service.h"
#include "wire/codec/wire_buffer.h"

namespace shoal {

// The client's side of Pull: shoal.v1.PullRequest from core's request, and
// shoal.v1.PullReply straight into the caller's spans. The server's side is
// pull_frame.h.

// REQUIRES: CheckPullRequest(request).ok(). The ids are copied once.
WireMessage EncodePullRequest(const PullRequest& request, WireBufferPool* pool,
                              CopyCounter* copies);

// A table's values must be a whole number of floats for each of its ids:
// INVALID_ARGUMENT. (That it is the right number the shard checks.)
absl::Status CheckPullRequest(const PullRequest& request);

// Copies the values into the spans of `request`, once. Errors, all of which
// leave the spans undefined: FAILED_PRECONDITION (the answer to something
// else), DATA_LOSS (malformed, or other tables, blocks or lengths than asked).
absl::Status DecodePullReply(absl::Span<const absl::string_view> fragments,
                             const PullRequest& request, CopyCounter* copies,
                             PullReply* reply);

}  // namespace shoal

#endif  // SHOAL_WIRE_CODEC_PULL_CODEC_H_
