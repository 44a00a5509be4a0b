#ifndef SHOAL_RPC_RING_RING_FRAME_H_
#define SHOAL_RPC_RING_RING_FRAME_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/collective_operation.h"

namespace shoal {

// The frames that travel between two ranks of a ring once they know each other:
// docs/wire_protocol.md, "The ring of ranks". Each function that decodes bytes
// checks every field: DATA_LOSS says what is wrong.

enum class RingFrameKind : uint8_t {
  kAnnouncement = 1,  // what a rank says about an operation
  kData = 2,
  kFailure = 3,  // the ring is over
};

struct RingFrameHeader {
  static constexpr size_t kBytes = 24;

  RingFrameKind kind = RingFrameKind::kData;
  uint32_t length = 0;  // bytes after the header
  uint64_t number = 0;  // of the operation, from 0; kFailure: 0
  // kAnnouncement: the rank that says it. kData: the number of the frame in the
  // operation, from 0. kFailure: the rank at fault.
  uint64_t position = 0;
};

constexpr size_t kRingNameOffset = 44;  // of an announcement's body
constexpr size_t kRingAnnouncementMax =
    kRingNameOffset + CollectiveOperation::kNameMax;
constexpr size_t kRingFailureMax = 1024;

void AppendHeader(const RingFrameHeader& header, std::string* out);

// REQUIRES: `bytes` has kBytes bytes. Refuses a data frame of more than
// `chunk_bytes` bytes.
absl::StatusOr<RingFrameHeader> DecodeHeader(absl::string_view bytes,
                                             uint32_t chunk_bytes);

// A whole frame.
std::string EncodeAnnouncement(uint64_t number, int origin,
                               const CollectiveOperation& operation);
// The operation of an announcement's body.
absl::StatusOr<CollectiveOperation> DecodeAnnouncement(absl::string_view body);

// A whole frame. A text of more than kRingFailureMax bytes is cut.
std::string EncodeFailure(int rank, absl::string_view text);

// `text` as a peer sent it, for a log line: other characters than printable
// ASCII are '?'.
std::string PrintableText(absl::string_view text);

}  // namespace shoal

#endif  // SHOAL_RPC_RING_RING_FRAME_H_
