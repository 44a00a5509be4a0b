#ifndef SHOAL_WIRE_CODEC_PUSH_FRAME_H_
#define SHOAL_WIRE_CODEC_PUSH_FRAME_H_

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

// The server's side of one Push at a time: decodes shoal.v1.PushRequest into
// core's request. Ids and gradients are copied once, into aligned memory that
// the frame keeps for the next push. Thread-compatible.
class PushFrame {
 public:
  // Errors: INVALID_ARGUMENT (malformed, or above a count of `limits`).
  absl::Status Decode(absl::Span<const absl::string_view> fragments,
                      const CodecLimits& limits, CopyCounter* copies);

  // The decoded request. Its spans are valid until the frame is used again.
  // REQUIRES: Decode returned OK.
  const PushRequest& request() const { return request_; }
  // REQUIRES: Decode returned OK.
  WireMessage EncodeReply(const PushReply& reply, WireBufferPool* pool) const;

  // Bytes of memory that the frame keeps until the next push.
  uint64_t kept_bytes() const {
    return sizeof(*this) + most_ids_ * sizeof(FeatureId) +
           most_floats_ * sizeof(float);
  }

 private:
  struct Part {
    uint32_t index = 0;
    FragmentReader ids;
    FragmentReader gradients;
  };

  static absl::Status DecodeTable(FragmentReader body, Part* part);
  static absl::Status DecodeBlock(FragmentReader body, Part* part);
  absl::Status DecodeFields(FragmentReader body, const CodecLimits& limits);

  PushRequest request_;
  std::vector<Part> tables_;
  std::vector<Part> blocks_;
  AlignedBuffer<FeatureId> ids_;
  AlignedBuffer<float> gradients_;
  // The most in a push so far; ids_ and gradients_ have memory for them.
  uint64_t most_ids_ = 0;
  uint64_t most_floats_ = 0;
};

}  // namespace shoal

#endif  // SHOAL_WIRE_CODEC_PUSH_FRAME_H_
