#ifndef SHOAL_RPC_TRANSPORT_BYTE_BUFFER_H_
#define SHOAL_RPC_TRANSPORT_BYTE_BUFFER_H_

#include <grpcpp/support/byte_buffer.h>

#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "proto/shoal.pb.h"
#include "wire/codec/wire_buffer.h"

namespace shoal {

// Shares the message's memory, and copies only tiny fragments.
grpc::ByteBuffer ToByteBuffer(const WireMessage& message);
// Makes a buffer of `head`, which is copied, and `rest`, whose memory in
// `buffer` is shared.
grpc::ByteBuffer ToByteBuffer(absl::string_view head, WireBuffer* buffer,
                              absl::string_view rest);
grpc::ByteBuffer ToByteBuffer(const google::protobuf::MessageLite& message);

// INVALID_ARGUMENT: the bytes cannot be parsed as such a message.
absl::Status ParseMessage(const grpc::ByteBuffer& bytes,
                          google::protobuf::MessageLite* message);

// The fragments of a received message. Owns their memory. Thread-compatible.
class ReceivedMessage {
 public:
  explicit ReceivedMessage(const grpc::ByteBuffer& bytes);
  ReceivedMessage(const ReceivedMessage&) = delete;
  ReceivedMessage& operator=(const ReceivedMessage&) = delete;

  absl::Span<const absl::string_view> fragments() const { return fragments_; }

 private:
  std::vector<grpc::Slice> slices_;
  std::vector<absl::string_view> fragments_;
};

}  // namespace shoal

#endif  // SHOAL_RPC_TRANSPORT_BYTE_BUFFER_H_
