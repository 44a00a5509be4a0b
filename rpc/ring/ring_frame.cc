#include "rpc/ring/ring_frame.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "rpc/ring/little_endian.h"

namespace shoal {
namespace {

absl::Status Malformed(absl::string_view what) {
  return absl::DataLossError(absl::StrCat("a frame with ", what));
}

absl::Status CheckLength(RingFrameKind kind, uint32_t length,
                         uint32_t chunk_bytes) {
  switch (kind) {
    case RingFrameKind::kAnnouncement:
      if (length >= kRingNameOffset && length <= kRingAnnouncementMax) {
        return absl::OkStatus();
      }
      break;
    case RingFrameKind::kData:
      if (length > 0 && length <= chunk_bytes) return absl::OkStatus();
      break;
    case RingFrameKind::kFailure:
      if (length <= kRingFailureMax) return absl::OkStatus();
      break;
    default:
      return Malformed(
          absl::StrCat("the unknown kind ", static_cast<int>(kind)));
  }
  return Malformed(absl::StrCat("a body of ", length, " bytes"));
}

}  // namespace

void AppendHeader(const RingFrameHeader& header, std::string* out) {
  AppendNumber(static_cast<uint32_t>(header.kind), out);
  AppendNumber(header.length, out);
  AppendNumber(header.number, out);
  AppendNumber(header.position, out);
}

absl::StatusOr<RingFrameHeader> DecodeHeader(absl::string_view bytes,
                                             uint32_t chunk_bytes) {
  SHOAL_DCHECK(bytes.size() == RingFrameHeader::kBytes);
  NumberReader reader(bytes);
  const uint32_t kind = reader.Next<uint32_t>();
  if (kind > 255) return Malformed(absl::StrCat("the unknown kind ", kind));
  RingFrameHeader header;
  header.kind = static_cast<RingFrameKind>(kind);
  header.length = reader.Next<uint32_t>();
  header.number = reader.Next<uint64_t>();
  header.position = reader.Next<uint64_t>();
  const absl::Status fits =
      CheckLength(header.kind, header.length, chunk_bytes);
  if (!fits.ok()) return fits;
  return header;
}

std::string EncodeAnnouncement(uint64_t number, int origin,
                               const CollectiveOperation& operation) {
  SHOAL_DCHECK(operation.name.size() <= CollectiveOperation::kNameMax);
  RingFrameHeader header;
  header.kind = RingFrameKind::kAnnouncement;
  header.length =
      static_cast<uint32_t>(kRingNameOffset + operation.name.size());
  header.number = number;
  header.position = static_cast<uint64_t>(origin);
  std::string frame;
  AppendHeader(header, &frame);
  AppendNumber(operation.Digest(), &frame);
  AppendNumber(operation.generation, &frame);
  AppendNumber(operation.step, &frame);
  AppendNumber(operation.length, &frame);
  AppendNumber(operation.index, &frame);
  AppendNumber(operation.root, &frame);
  AppendNumber(static_cast<uint8_t>(operation.kind), &frame);
  AppendNumber(static_cast<uint8_t>(operation.type), &frame);
  AppendNumber(static_cast<uint16_t>(operation.name.size()), &frame);
  frame.append(operation.name);
  return frame;
}

absl::StatusOr<CollectiveOperation> DecodeAnnouncement(
    absl::string_view body) {
  if (body.size() < kRingNameOffset) return Malformed("half an announcement");
  NumberReader reader(body);
  CollectiveOperation operation;
  const uint64_t digest = reader.Next<uint64_t>();
  operation.generation = reader.Next<uint64_t>();
  operation.step = reader.Next<uint64_t>();
  operation.length = reader.Next<uint64_t>();
  operation.index = reader.Next<uint32_t>();
  operation.root = reader.Next<uint32_t>();
  const uint8_t kind = reader.Next<uint8_t>();
  const uint8_t type = reader.Next<uint8_t>();
  const uint16_t name_bytes = reader.Next<uint16_t>();
  if (kind < 1 || kind > 3) return Malformed("an unknown kind of operation");
  if (type < 1 || type > 2) return Malformed("an unknown type of elements");
  if (name_bytes > CollectiveOperation::kNameMax ||
      body.size() != kRingNameOffset + name_bytes) {
    return Malformed("a name of another length");
  }
  operation.kind = static_cast<CollectiveKind>(kind);
  operation.type = static_cast<ElementType>(type);
  operation.name = std::string(reader.Bytes(name_bytes));
  if (operation.Digest() != digest) {
    return Malformed("the digest of another operation");
  }
  return operation;
}

std::string EncodeFailure(int rank, absl::string_view text) {
  const absl::string_view part = text.substr(0, kRingFailureMax);
  RingFrameHeader header;
  header.kind = RingFrameKind::kFailure;
  header.length = static_cast<uint32_t>(part.size());
  header.position = static_cast<uint64_t>(rank);
  std::string frame;
  AppendHeader(header, &frame);
  absl::StrAppend(&frame, part);
  return frame;
}

std::string PrintableText(absl::string_view text) {
  std::string printable(text);
  for (char& c : printable) {
    if (!absl::ascii_isprint(static_cast<unsigned char>(c))) c = '?';
  }
  return printable;
}

}  // namespace shoal
