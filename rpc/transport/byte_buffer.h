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

// Shares the message's memory; copies nothing but tiny fragments.
grpc::ByteBuffer ToByteBuffer(const WireMessage& message);
// `head`, copied, and then `rest`, which lies in `buffer` and is shared.
grpc::ByteBuffer ToByteBuffer(absl::string_view head, WireBuffer* buffer,
                              absl::string_view rest);
grpc::ByteBuffer ToByteBuffer(const google::protobuf::MessageLite& message);

// INVALID_ARGUMENT: the bytes are no such message.
absl::Status ParseMessage(const grpc::ByteBuffer& bytes,
                          google::protobuf::MessageLite* message);

// A received message as fragments; holds their memory. Thread-compatible.
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
