#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/status_macros.h"
#include "rpc/server/handlers.h"
#include "rpc/transport/at_end.h"
#include "rpc/transport/byte_buffer.h"
#include "wire/codec/chunk_codec.h"
#include "wire/codec/push_frame.h"

namespace shoal {
namespace {

grpc::ByteBuffer ToByteBuffer(const std::string& bytes) {
  const grpc::Slice slice(bytes);
  return grpc::ByteBuffer(&slice, 1);
}

}  // namespace

void PushChunkHandler::Handle(const grpc::ByteBuffer& request,
                              absl::Duration timeout, Answer answer) {
  absl::Status status = HandleChunk(request, timeout, &answer);
  if (!status.ok()) answer.Send(std::move(status));
}

absl::Status PushChunkHandler::HandleChunk(const grpc::ByteBuffer& request,
                                           absl::Duration timeout,
                                           Answer* answer) {
  SHOAL_ASSIGN_OR_RETURN(ParameterService * parameters, state()->parameters());
  const auto received = std::make_shared<const ReceivedMessage>(request);
  PushChunk chunk;
  SHOAL_RETURN_IF_ERROR(DecodePushChunk(received->fragments(), &chunk));
  SHOAL_ASSIGN_OR_RETURN(std::optional<ChunkAssembler::Whole> whole,
                         state()->Stage(chunk, received));
  if (!whole.has_value()) {
    answer->Send(ToByteBuffer(EncodePushChunkReply(chunk.identity, "")));
    return absl::OkStatus();
  }

  // The server may be destroyed as soon as the answer is sent, so the bytes are
  // released before.
  AtEnd staged(
      [state = state(), bytes = whole->bytes] { state->ReleaseStaged(bytes); });
  auto frame = std::make_unique<PushFrame>();
  SHOAL_RETURN_IF_ERROR(
      frame->Decode(whole->fragments, state()->limits(),
                    state()->push_copies()));
  whole.reset();  // its bytes are in the frame
  PushRequest push = frame->request();
  if (push.batches[0].id != chunk.batch ||
      push.identity.worker != chunk.identity.worker) {
    return absl::InvalidArgumentError(
        "the chunks name another batch or worker than the push in them");
  }
  parameters->Push(
      std::move(push), timeout,
      // `answer` is the first capture, so that a dropped task destroys it last.
      [answer = std::move(*answer), state = state(), frame = std::move(frame),
       staged = std::optional<AtEnd>(std::move(staged))](
          absl::StatusOr<PushReply> reply) mutable {
        grpc::ByteBuffer bytes;
        if (reply.ok()) {
          const WireMessage push_reply =
              frame->EncodeReply(*reply, state->buffers());
          bytes = ToByteBuffer(EncodePushChunkReply(frame->request().identity,
                                                    push_reply.fragments[0]));
        }
        frame.reset();
        staged.reset();
        if (!reply.ok()) return answer.Send(reply.status());
        answer.Send(std::move(bytes));
      });
  return absl::OkStatus();
}

}  // namespace shoal
