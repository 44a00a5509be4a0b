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

// The server's side of one Pull at a time: decodes shoal.v1.PullRequest into
// core's request. The request's output spans lie in the memory of the reply, so
// that the shard gathers straight into the bytes that are sent. A frame is used
// for many pulls, one after another, and keeps its memory between them.
// Thread-compatible.
class PullFrame {
 public:
  // Errors: INVALID_ARGUMENT (malformed, or above a count of `limits`),
  // RESOURCE_EXHAUSTED (the reply would have more than limits.max_reply_bytes).
  absl::Status Decode(absl::Span<const absl::string_view> fragments,
                      const CodecLimits& limits, CopyCounter* copies);

  // Bytes of memory that MakeReply takes. REQUIRES, here and for all functions
  // below: Decode returned OK.
  uint64_t reply_capacity() const;
  // Bytes of the values of the reply.
  uint64_t value_bytes() const;
  // Takes the reply's memory. `pool` must outlive the frame's next call.
  // REQUIRES: at most one call for each Decode.
  void MakeReply(WireBufferPool* pool);

  // The decoded request. Its spans are valid until the frame is used again or
  // the encoded reply is destroyed. REQUIRES: MakeReply was called.
  const PullRequest& request() const { return request_; }
  // REQUIRES: MakeReply was called; at most one call for each Decode.
  WireMessage EncodeReply(const PullReply& reply);

  // Gives back the memory of a reply that was not encoded.
  void DropReply() { reply_ = WireBufferRef(); }
  // Bytes of memory that the frame keeps until the next pull.
  uint64_t kept_bytes() const {
    return sizeof(*this) + most_ids_ * sizeof(FeatureId);
  }

 private:
  // A bulk field of the reply. Its tags and lengths lie right before its
  // values, which begin at `values_at`, an aligned place in the buffer.
  struct Part {
    uint32_t index = 0;
    uint64_t offset = 0;
    uint64_t ids = 0;  // count; for tables
    uint32_t row_dim = 0;
    uint64_t value_bytes = 0;
    FragmentReader id_bytes;
    uint64_t values_at = 0;
  };

  absl::Status DecodeFields(FragmentReader body, const CodecLimits& limits);
  absl::Status DecodeTableIds(FragmentReader body, const CodecLimits& limits,
                              Part* part);
  absl::Status DecodeBlockRange(FragmentReader body, Part* part);
  // Gives each part its place in the reply, and returns the size of the buffer.
  uint64_t LayOut(uint64_t first);
  absl::Span<float> Values(const Part& part) const;
  void WriteHead(const Part& part, bool table, WireMessage* message) const;

  PullRequest request_;
  std::vector<Part> tables_;
  std::vector<Part> blocks_;
  AlignedBuffer<FeatureId> ids_;
  uint64_t most_ids_ = 0;  // in a pull so far; ids_ has memory for them
  uint64_t reply_bytes_ = 0;
  WireBufferRef reply_;
};

}  // namespace shoal

#endif  // SHOAL_WIRE_CODEC_PULL_FRAME_H_
