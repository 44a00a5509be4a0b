#include "rpc/transport/byte_buffer.h"

#include <grpcpp/support/proto_buffer_reader.h>

#include <string>

#include "absl/strings/str_cat.h"

namespace shoal {
namespace {

// Fragments with fewer bytes are copied, because that costs less than a
// reference.
constexpr size_t kCopyBelow = 64;

grpc::Slice Share(WireBuffer* buffer, absl::string_view bytes) {
  if (bytes.size() < kCopyBelow) return {bytes.data(), bytes.size()};
  buffer->Ref();
  return grpc::Slice(
      const_cast<char*>(bytes.data()), bytes.size(),
      [](void* shared) { static_cast<WireBuffer*>(shared)->Unref(); }, buffer);
}

}  // namespace

grpc::ByteBuffer ToByteBuffer(const WireMessage& message) {
  std::vector<grpc::Slice> slices;
  slices.reserve(message.fragments.size());
  for (const absl::string_view fragment : message.fragments) {
    slices.push_back(Share(message.buffer.get(), fragment));
  }
  return grpc::ByteBuffer(slices.data(), slices.size());
}

grpc::ByteBuffer ToByteBuffer(absl::string_view head, WireBuffer* buffer,
                              absl::string_view rest) {
  const grpc::Slice slices[] = {grpc::Slice(head.data(), head.size()),
                                Share(buffer, rest)};
  return grpc::ByteBuffer(slices, 2);
}

grpc::ByteBuffer ToByteBuffer(const google::protobuf::MessageLite& message) {
  grpc::Slice slice(message.ByteSizeLong());
  message.SerializeWithCachedSizesToArray(const_cast<uint8_t*>(slice.begin()));
  return grpc::ByteBuffer(&slice, 1);
}

absl::Status ParseMessage(const grpc::ByteBuffer& bytes,
                          google::protobuf::MessageLite* message) {
  // The reader needs a mutable buffer to decompress it. We refuse compression,
  // so it changes nothing.
  grpc::ByteBuffer copy(bytes);
  grpc::ProtoBufferReader reader(&copy);
  if (reader.status().ok() && message->ParseFromZeroCopyStream(&reader)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("the bytes are not a ", message->GetTypeName()));
}

ReceivedMessage::ReceivedMessage(const grpc::ByteBuffer& bytes) {
  // Dump fails only for a buffer without a message. It counts as empty.
  if (!bytes.Valid() || !bytes.Dump(&slices_).ok()) slices_.clear();
  fragments_.reserve(slices_.size());
  for (const grpc::Slice& slice : slices_) {
    fragments_.emplace_back(reinterpret_cast<const char*>(slice.begin()),
                            slice.size());
  }
}

}  // namespace shoal
