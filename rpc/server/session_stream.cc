#include "rpc/server/session_stream.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "rpc/transport/byte_buffer.h"
#include "rpc/transport/grpc_status.h"
#include "wire/messages/common_messages.h"
#include "wire/messages/session_messages.h"

namespace shoal {

void SessionStream::Start(std::shared_ptr<ServerState> state,
                          std::unique_ptr<IncomingCall> rpc, AtEnd place) {
  const absl::Duration deadline = state->options().session_open_deadline;
  Executor* const executor = state->executor();
  state->Enter();
  const std::shared_ptr<SessionStream> self(
      new SessionStream(std::move(state), std::move(rpc), std::move(place)));
  {
    MutexLock lock(&self->mu_);
    self->ReadNext();
  }
  executor->PostAfter(deadline,
                      [weak = std::weak_ptr<SessionStream>(self), deadline] {
                        if (const auto stream = weak.lock())
                          stream->EndUnlessOpen(deadline);
                      });
}

void SessionStream::EndUnlessOpen(absl::Duration deadline) {
  {
    MutexLock lock(&mu_);
    if (opened_) return;
  }
  End(absl::DeadlineExceededError(
          absl::StrCat("the first message of the session did not come within ",
                       absl::FormatDuration(deadline))),
      /*flush=*/false);
}

void SessionStream::ReadNext() {
  reading_ = true;
  rpc_->stream.Read(&read_, read_op_.Tag());
}

void SessionStream::OnRead(bool ok) {
  grpc::ByteBuffer bytes;
  {
    MutexLock lock(&mu_);
    reading_ = false;
    bytes.Swap(&read_);
    if (ending_) ok = false;
  }
  absl::Status status = absl::AbortedError("the process closed the session");
  if (ok) status = TakeMessage(bytes);
  if (!status.ok()) {
    End(std::move(status), /*flush=*/false);
    return LeaveIfOver();
  }
  MutexLock lock(&mu_);
  // Finish needs no read to be under way, and a read does not delay it.
  if (!finishing_) ReadNext();
}

absl::Status SessionStream::TakeMessage(const grpc::ByteBuffer& bytes) {
  v1::ProcessMessage wire;
  SHOAL_RETURN_IF_ERROR(ParseMessage(bytes, &wire));
  std::shared_ptr<ClusterSession> session;
  {
    MutexLock lock(&mu_);
    session = session_;
    if (opened_ && session == nullptr) return absl::OkStatus();  // ending
  }
  if (session != nullptr) {
    ProcessMessage message;
    SHOAL_RETURN_IF_ERROR(FromProto(wire, &message));
    session->Send(std::move(message));
    return absl::OkStatus();
  }
  SessionOpening opening;
  if (!wire.has_open() || !FromProto(wire.open(), &opening).ok()) {
    return absl::InvalidArgumentError(
        "the first message of a session must be `open` with a valid life");
  }
  return Open(std::move(opening));
}

absl::Status SessionStream::Open(SessionOpening opening) {
  SHOAL_ASSIGN_OR_RETURN(ClusterService * cluster, state_->cluster());
  {
    MutexLock lock(&mu_);
    opened_ = true;
  }
  SessionHandler handler;
  handler.on_message = [self = shared_from_this()](CoordinatorMessage message) {
    self->Send(message);
  };
  handler.on_end = [self = shared_from_this()](absl::Status status) {
    self->End(std::move(status), /*flush=*/true);
  };
  std::shared_ptr<ClusterSession> session =
      cluster->OpenSession(std::move(opening), std::move(handler));
  MutexLock lock(&mu_);
  // The coordinator may have ended the session already. `session` is then
  // destroyed after the lock is released.
  if (!ending_) session_.swap(session);
  return absl::OkStatus();
}

void SessionStream::Send(const CoordinatorMessage& message) {
  v1::CoordinatorMessage wire;
  ToProto(message, &wire);
  grpc::ByteBuffer bytes = ToByteBuffer(wire);
  const uint64_t size = bytes.Length();
  const uint64_t limit = state_->options().max_session_queue_bytes;
  uint64_t waiting;
  {
    MutexLock lock(&mu_);
    if (ending_) return;
    waiting = queued_bytes_;
    if (waiting + size <= limit) {
      queued_bytes_ += size;
      queue_.push_back(std::move(bytes));
      return WriteNext();
    }
  }
  End(absl::ResourceExhaustedError(absl::StrCat(
          "the process does not keep up: ", waiting,
          " bytes wait to be sent, and ", size,
          " more would exceed the session's limit of ", limit)),
      /*flush=*/false);
}

void SessionStream::WriteNext() {
  if (writing_ || finishing_ || queue_.empty()) return;
  writing_ = true;
  rpc_->stream.Write(queue_.front(), write_op_.Tag());
}

void SessionStream::OnWritten(bool ok) {
  {
    MutexLock lock(&mu_);
    writing_ = false;
    queued_bytes_ -= queue_.front().Length();
    queue_.pop_front();
    // The process is gone. The read will fail too, and handles the end.
    if (!ok) queue_.clear();
    WriteNext();
    FinishIfDrained();
  }
  LeaveIfOver();
}

void SessionStream::End(absl::Status status, bool flush) {
  std::shared_ptr<ClusterSession> session;
  MutexLock lock(&mu_);
  // `session` is destroyed after the lock is released, because the coordinator
  // may call back.
  if (!flush) {
    // The message that is being written stays in front until it is written.
    while (queue_.size() > (writing_ ? 1u : 0u)) queue_.pop_back();
  }
  if (!ending_) {
    ending_ = true;
    end_ = std::move(status);
    session.swap(session_);
    // The place is free before the process learns of the end, because the
    // process may then open its next session.
    place_.reset();
  }
  FinishIfDrained();
}

void SessionStream::FinishIfDrained() {
  if (!ending_ || finishing_ || writing_ || !queue_.empty()) return;
  finishing_ = true;
  rpc_->stream.Finish(ToGrpcStatus(end_), finish_op_.Tag());
}

void SessionStream::OnFinished(bool ok) {
  {
    MutexLock lock(&mu_);
    finished_ = true;
  }
  LeaveIfOver();
}

void SessionStream::LeaveIfOver() {
  std::unique_ptr<IncomingCall> rpc;
  {
    MutexLock lock(&mu_);
    if (!finished_ || reading_ || writing_) return;
    rpc.swap(rpc_);
  }
  if (rpc == nullptr) return;
  rpc.reset();
  state_->Leave();
}

}  // namespace shoal
