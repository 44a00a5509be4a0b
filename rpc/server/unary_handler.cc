#include "rpc/server/unary_handler.h"

#include <algorithm>
#include <chrono>

#include "rpc/transport/grpc_status.h"

namespace shoal {

void UnaryHandler::Listen() {
  state_->Enter();
  MutexLock lock(&mu_);
  AcceptNext();
}

void UnaryHandler::AcceptNext() {
  replied_ = false;
  call_.emplace();
  accept_(&call_->context, &call_->request, &call_->writer, Tag());
}

absl::Duration UnaryHandler::TimeLeft() {
  const absl::Duration left = absl::FromChrono(
      call_->context.deadline() - std::chrono::system_clock::now());
  return std::clamp(left, absl::ZeroDuration(),
                    state_->options().max_call_time);
}

void UnaryHandler::OnEvent(bool ok) {
  grpc::ByteBuffer request;
  absl::Duration timeout;
  absl::Status status;
  {
    MutexLock lock(&mu_);
    if (replied_) return AcceptNext();
    if (!ok) {
      // No call any more: the server shuts down.
      call_.reset();
    } else {
      request.Swap(&call_->request);
      timeout = TimeLeft();
      status = state_->Authenticate(call_->context);
    }
  }
  if (!ok) return state_->Leave();
  Answer answer(this);
  if (!status.ok()) return answer.Send(status);
  Handle(request, timeout, std::move(answer));
}

void UnaryHandler::Reply(absl::StatusOr<grpc::ByteBuffer> reply) {
  MutexLock lock(&mu_);
  replied_ = true;
  if (reply.ok()) {
    call_->writer.Finish(*reply, grpc::Status::OK, Tag());
  } else {
    call_->writer.FinishWithError(ToGrpcStatus(reply.status()), Tag());
  }
}

}  // namespace shoal
