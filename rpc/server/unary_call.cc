#include "rpc/server/unary_call.h"

#include <grpc/support/time.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "rpc/server/stranger_log.h"
#include "rpc/server/unary_handler.h"
#include "rpc/transport/grpc_status.h"

namespace shoal {

UnaryCall::UnaryCall(ServerState* state, UnaryHandler* handler, uint64_t owner,
                     std::unique_ptr<IncomingCall> rpc,
                     std::optional<AtEnd> place)
    : state_(state),
      handler_(handler),
      owner_(owner),
      place_(std::move(place)),
      rpc_(std::move(rpc)) {
  state_->Enter();
}

void UnaryCall::Serve(ServerState* state, UnaryHandler* handler, uint64_t owner,
                      std::unique_ptr<IncomingCall> rpc, AtEnd place) {
  (new UnaryCall(state, handler, owner, std::move(rpc), std::move(place)))
      ->WaitForRoom();
}

void UnaryCall::Refuse(ServerState* state, std::unique_ptr<IncomingCall> rpc,
                       absl::Status status) {
  (new UnaryCall(state, nullptr, 0, std::move(rpc), std::nullopt))
      ->Reply(std::move(status));
}

void UnaryCall::WaitForRoom() {
  // The size of the request is not known until it is read.
  const uint64_t bytes = state_->options().max_message_bytes;
  ByteBudget* const budget = state_->request_budget();
  std::optional<ByteBudget::Share> share = budget->TryTake(owner_, bytes);
  if (share.has_value()) return Read(*std::move(share));
  budget->Take(owner_, bytes,
               [this](ByteBudget::Share taken) { Read(std::move(taken)); });
}

void UnaryCall::Read(ByteBudget::Share share) {
  MutexLock lock(&mu_);
  request_share_ = std::move(share);
  transfer_ = state_->transfers()->Add(&rpc_->context);
  rpc_->stream.Read(&request_, Tag());
}

std::string UnaryCall::Peer() {
  MutexLock lock(&mu_);
  return PeerText(rpc_->context.peer());
}

absl::Duration UnaryCall::TimeLeft() {
  MutexLock lock(&mu_);
  // The monotonic clock does not jump.
  const gpr_timespec left = gpr_time_sub(
      gpr_convert_clock_type(rpc_->context.raw_deadline(), GPR_CLOCK_MONOTONIC),
      gpr_now(GPR_CLOCK_MONOTONIC));
  if (gpr_time_cmp(left, gpr_time_from_hours(24, GPR_TIMESPAN)) > 0) {
    return state_->options().max_call_time;
  }
  return std::max(absl::Seconds(left.tv_sec) + absl::Nanoseconds(left.tv_nsec),
                  absl::ZeroDuration());
}

void UnaryCall::OnEvent(bool ok) {
  Step step;
  {
    MutexLock lock(&mu_);
    state_->transfers()->Remove(transfer_);
    step = step_;
  }
  if (step == Step::kReading) return OnRead(ok);
  ServerState* const state = state_;
  delete this;
  state->Leave();
}

void UnaryCall::OnRead(bool ok) {
  grpc::ByteBuffer request;
  {
    MutexLock lock(&mu_);
    request.Swap(&request_);
    request_share_.ShrinkTo(ok ? request.Length() : 0);
  }
  UnaryHandler::Answer answer(this);
  if (!ok) {
    return answer.Send(
        absl::InvalidArgumentError("the call ended without a message"));
  }
  handler_->Handle(request, TimeLeft(), std::move(answer));
}

void UnaryCall::Keep(ByteBudget::Share share) {
  MutexLock lock(&mu_);
  reply_share_ = std::move(share);
}

void UnaryCall::Reply(absl::StatusOr<grpc::ByteBuffer> reply) {
  MutexLock lock(&mu_);
  SHOAL_DCHECK(step_ == Step::kReading);
  step_ = Step::kReplying;
  transfer_ = state_->transfers()->Add(&rpc_->context);
  if (reply.ok()) {
    rpc_->stream.WriteAndFinish(*reply, grpc::WriteOptions(), grpc::Status::OK,
                                Tag());
  } else {
    rpc_->stream.Finish(ToGrpcStatus(reply.status()), Tag());
  }
}

}  // namespace shoal
