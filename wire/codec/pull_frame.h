#ifndef SHOAL_WIRE_CODEC_PULL_FRAME_H_
#define SHOAL_WIRE_CODEC_PULL_FRAME_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "base/aligned_buffer.h"
#include "core/parameter_service.h"
#include "wire/codec/codec_limits.h"
#include "wire/codec/fragment_reader.h"
#include "wire/codec/wire_buffer.h"

namespace shoal {

// The server's side of one Pull at a time: shoal.v1.PullRequest into core's
// request, whose output spans lie inside the reply's own memory, so that the
// shard gathers straight into what is sent. Kept for the next pull, with its
// memory. Thread-compatible.
class PullFrame {
 public:
  // Errors: INVALID_ARGUMENT (malformed, or beyond a count of `limits`),
  // RESOURCE_EXHAUSTED (the reply would be too large).
  absl::Status Decode(absl::Span<const absl::string_view> fragments,
                      const CodecLimits& limits, CopyCounter* copies);

  // REQUIRES, of what follows: Decode returned OK.
  // Bytes of memory that MakeReply takes.
  uint64_t reply_capacity() const;
  // Takes the reply's memory, once for each Decode. `pool` must outlive the
  // frame's next call.
  void MakeReply(WireBufferPool* pool);

  // REQUIRES, of both: MakeReply was called. The request's spans are valid
  // until the frame is used again and until the encoded reply is destroyed.
  const PullRequest& request() const { return request_; }
  // Once for each Decode.
  WireMessage EncodeReply(const PullReply& reply);

  // Gives back the memory of a reply that was not encoded.
  void DropReply() { reply_ = WireBufferRef(); }
  // Memory that the frame takes until the next pull.
  uint64_t kept_bytes() const {
    return sizeof(*this) + most_ids_ * sizeof(FeatureId);
  }

 private:
  // A bulk field of the reply: `head` bytes of tags and lengths that end where
  // `values_at`, an aligned place in the buffer, begins.
  struct Part {
    uint32_t index = 0;
    uint64_t offset = 0;
    uint64_t ids = 0;  // of a table
    uint32_t row_dim = 0;
    uint64_t value_bytes = 0;
    FragmentReader id_bytes;
    uint64_t values_at = 0;
  };

  absl::Status DecodeFields(FragmentReader body, const CodecLimits& limits);
  absl::Status DecodeTableIds(FragmentReader body, const CodecLimits& limits,
                              Part* part);
  absl::Status DecodeBlockRange(FragmentReader body, Part* part);
  // Gives each part its place in the reply; the size of the whole buffer.
  uint64_t LayOut(uint64_t first);
  absl::Span<float> Values(const Part& part) const;
  void WriteHead(const Part& part, bool table, WireMessage* message) const;

  PullRequest request_;
  std::vector<Part> tables_;
  std::vector<Part> blocks_;
  AlignedBuffer<FeatureId> ids_;
  uint64_t most_ids_ = 0;  // of any pull so far, for which there is memory
  uint64_t reply_bytes_ = 0;
  WireBufferRef reply_;
};

}  // namespace shoal

#endif  // SHOAL_WIRE_CODEC_PULL_FRAME_H_
