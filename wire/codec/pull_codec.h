#ifndef SHOAL_WIRE_CODEC_PULL_CODEC_H_
#define SHOAL_WIRE_CODEC_PULL_CODEC_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/parameter_service.h"
#include "wire/codec/wire_buffer.h"

namespace shoal {

// The client's side of Pull: encodes core's request as shoal.v1.PullRequest,
// and decodes shoal.v1.PullReply straight into the caller's spans. The server's
// side is pull_frame.h.

// Copies the ids once. REQUIRES: CheckPullRequest(request).ok().
WireMessage EncodePullRequest(const PullRequest& request, WireBufferPool* pool,
                              CopyCounter* copies);

// INVALID_ARGUMENT if the floats of a table's values are not a multiple of the
// table's ids. The shard checks that the row dim is the table's.
absl::Status CheckPullRequest(const PullRequest& request);

// Copies the values once, into the spans of `request`. After an error the
// contents of the spans are undefined. Errors: FAILED_PRECONDITION (the reply
// answers another request), DATA_LOSS (the reply is malformed, or its tables,
// blocks or lengths are not those that were asked).
absl::Status DecodePullReply(absl::Span<const absl::string_view> fragments,
                             const PullRequest& request, CopyCounter* copies,
                             PullReply* reply);

}  // namespace shoal

#endif  // SHOAL_WIRE_CODEC_PULL_CODEC_H_
