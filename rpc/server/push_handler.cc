#include <memory>
#include <utility>

#include "rpc/server/handlers.h"
#include "rpc/transport/byte_buffer.h"
#include "wire/codec/push_frame.h"

namespace shoal {

void PushHandler::Handle(const grpc::ByteBuffer& request,
                         absl::Duration timeout, Answer answer) {
  absl::StatusOr<ParameterService*> parameters = state()->parameters();
  if (!parameters.ok()) return answer.Send(parameters.status());
  std::unique_ptr<PushFrame> frame = state()->push_frames()->Take();
  const ReceivedMessage received(request);
  absl::Status status =
      frame->Decode(received.fragments(), state()->limits(),
                    state()->push_copies());
  if (!status.ok()) {
    state()->push_frames()->Return(std::move(frame));
    return answer.Send(std::move(status));
  }
  PushRequest push = frame->request();
  (*parameters)
      ->Push(std::move(push), timeout,
             [state = state(), frame = std::move(frame),
              answer =
                  std::move(answer)](absl::StatusOr<PushReply> reply) mutable {
               // The server may be destroyed as soon as the answer is sent, so
               // the answer is sent last.
               grpc::ByteBuffer bytes;
               if (reply.ok()) {
                 bytes =
                     ToByteBuffer(frame->EncodeReply(*reply, state->buffers()));
               }
               state->push_frames()->Return(std::move(frame));
               if (!reply.ok()) return answer.Send(reply.status());
               answer.Send(std::move(bytes));
             });
}

}  // namespace shoal
