#include <memory>
#include <optional>
#include <utility>

#include "rpc/server/handlers.h"
#include "rpc/transport/byte_buffer.h"
#include "wire/codec/pull_frame.h"

namespace shoal {

namespace {

using Answer = UnaryHandler::Answer;

void Serve(ServerState* state, ParameterService* parameters,
           std::unique_ptr<PullFrame> frame, absl::Duration timeout,
           Answer answer) {
  frame->MakeReply(state->buffers());
  PullRequest pull = frame->request();
  parameters->Pull(
      std::move(pull), timeout,
      [state, frame = std::move(frame),
       answer = std::move(answer)](absl::StatusOr<PullReply> reply) mutable {
        // The server may be destroyed as soon as the answer is sent, so the
        // answer is sent last.
        grpc::ByteBuffer bytes;
        if (reply.ok()) {
          bytes = ToByteBuffer(frame->EncodeReply(*reply));
          state->CountReply(frame->value_bytes());
        }
        frame->DropReply();
        state->pull_frames()->Return(std::move(frame));
        if (!reply.ok()) return answer.Send(reply.status());
        answer.Send(std::move(bytes));
      });
}

}  // namespace

void PullHandler::Handle(const grpc::ByteBuffer& request,
                         absl::Duration timeout, Answer answer) {
  absl::StatusOr<ParameterService*> parameters = state()->parameters();
  if (!parameters.ok()) return answer.Send(parameters.status());
  std::unique_ptr<PullFrame> frame = state()->pull_frames()->Take();
  absl::Status status =
      frame->Decode(ReceivedMessage(request).fragments(), state()->limits(),
                    state()->pull_copies());
  if (!status.ok()) {
    state()->pull_frames()->Return(std::move(frame));
    return answer.Send(std::move(status));
  }
  const uint64_t bytes = frame->reply_capacity();
  ByteBudget* const budget = state()->reply_budget();
  const uint64_t owner = answer.owner();
  std::optional<ByteBudget::Share> share = budget->TryTake(owner, bytes);
  if (share.has_value()) {
    answer.Keep(*std::move(share));
    return Serve(state(), *parameters, std::move(frame), timeout,
                 std::move(answer));
  }
  budget->Take(
      owner, bytes,
      [state = state(), parameters = *parameters, frame = std::move(frame),
       answer = std::move(answer)](ByteBudget::Share taken) mutable {
        const absl::Duration left = answer.TimeLeft();
        if (left <= absl::ZeroDuration()) {
          // The room is left to a pull whose client still waits. Nothing of
          // the server is used after the answer.
          taken.ShrinkTo(0);
          state->pull_frames()->Return(std::move(frame));
          return answer.Send(absl::DeadlineExceededError(
              "the pull's deadline passed before there was room for its reply: "
              "too many pulls are under way, or clients read replies slowly"));
        }
        answer.Keep(std::move(taken));
        Serve(state, parameters, std::move(frame), left, std::move(answer));
      });
}

}  // namespace shoal
