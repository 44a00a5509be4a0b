#include "rpc/client/client_stream.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "rpc/port_probe.h"
#include "rpc/transport/at_end.h"
#include "rpc/transport/byte_buffer.h"
#include "rpc/transport/grpc_status.h"
#include "rpc/transport/method_names.h"
#include "wire/messages/common_messages.h"
#include "wire/messages/session_messages.h"

namespace shoal {
namespace {

// Timeout of the probe of one address of the coordinator.
constexpr absl::Duration kProbeTimeout = absl::Milliseconds(250);

grpc::ByteBuffer Encode(const ProcessMessage& message) {
  v1::ProcessMessage wire;
  ToProto(message, &wire);
  return ToByteBuffer(wire);
}

}  // namespace

ClientStream::ClientStream(Peer* peer, Executor* executor, Executor* probes,
                           uint64_t max_queued_bytes, SessionHandler handler)
    : peer_(peer),
      executor_(executor),
      probes_(probes),
      address_(peer->address()),
      max_queued_bytes_(max_queued_bytes),
      handler_(std::move(handler)) {}

void ClientStream::Start(const SessionOpening& opening) {
  v1::ProcessMessage open;
  ToProto(opening, open.mutable_open());
  resumes_ = opening.resume;
  MutexLock lock(&mu_);
  Queue(ToByteBuffer(open));
  peer_->Prepare(&context_);
  stream_ =
      peer_->stub()->PrepareCall(&context_, kSessionMethod, peer_->queue());
  stream_->StartCall(start_.Tag());
}

void ClientStream::Send(ProcessMessage message) {
  const grpc::ByteBuffer bytes = Encode(message);
  MutexLock lock(&mu_);
  Queue(bytes);
}

bool ClientStream::closed() {
  MutexLock lock(&mu_);
  return closed_;
}

void ClientStream::Close() {
  MutexLock lock(&mu_);
  closed_ = true;
  Abort(absl::CancelledError("the process closed the session"));
}

void ClientStream::Cancel() {
  MutexLock lock(&mu_);
  Abort(absl::CancelledError("the client is being destroyed"));
}

void ClientStream::Abort(absl::Status reason) {
  if (reason_.ok()) reason_ = std::move(reason);
  broken_ = true;
  context_.TryCancel();
  // on_message may be the caller, so the end must not wait until it returns.
  if (delivering_) Finish();
}

void ClientStream::Queue(const grpc::ByteBuffer& bytes) {
  if (broken_) return;
  const uint64_t size = bytes.Length();
  if (queued_bytes_ + size > max_queued_bytes_) {
    return Abort(absl::ResourceExhaustedError(absl::StrCat(
        "the coordinator does not keep up: ", queued_bytes_,
        " bytes wait to be sent, and ", size,
        " more would exceed the session's limit of ", max_queued_bytes_)));
  }
  queued_bytes_ += size;
  queue_.push_back(bytes);
  WriteNext();
}

void ClientStream::WriteNext() {
  if (!started_ || writing_ || broken_ || queue_.empty()) return;
  writing_ = true;
  stream_->Write(queue_.front(), writing_op_.Tag());
}

void ClientStream::ReadNext() { stream_->Read(&read_, reading_op_.Tag()); }

void ClientStream::Finish() {
  if (finishing_) return;
  finishing_ = true;
  stream_->Finish(&status_, finish_.Tag());
}

void ClientStream::OnDelivered() {
  MutexLock lock(&mu_);
  delivering_ = false;
  if (!finishing_) return ReadNext();
  if (finished_) PostEnd();
}

void ClientStream::PostEnd() {
  if (!resumes_ || !absl::IsUnavailable(end_)) return Deliver(end_);
  probes_->Post([self = shared_from_this(), end = end_]() mutable {
    if (ProbePort(self->address_, kProbeTimeout) == PortState::kRefused) {
      end = absl::NotFoundError(absl::StrCat(
          end.message(), "; no process listens there any more"));
    }
    self->Deliver(std::move(end));
  });
}

void ClientStream::Deliver(absl::Status end) {
  executor_->Post([self = shared_from_this(), end = std::move(end)]() mutable {
    SessionHandler handler = std::move(self->handler_);
    handler.on_end(std::move(end));
  });
}

void ClientStream::OnStarted(bool ok) {
  MutexLock lock(&mu_);
  if (!ok) return Finish();
  started_ = true;
  ReadNext();
  WriteNext();
}

void ClientStream::OnWritten(bool ok) {
  MutexLock lock(&mu_);
  writing_ = false;
  if (finished_) return;
  queued_bytes_ -= queue_.front().Length();
  queue_.pop_front();
  // The stream has ended. The read will fail too, and handles the end.
  if (!ok) broken_ = true;
  WriteNext();
}

void ClientStream::OnRead(bool ok) {
  CoordinatorMessage message;
  {
    MutexLock lock(&mu_);
    if (!ok) return Finish();
    v1::CoordinatorMessage wire;
    absl::Status status = ParseMessage(read_, &wire);
    read_.Clear();
    if (status.ok()) status = FromProto(wire, &message);
    if (!status.ok()) {
      Abort(absl::DataLossError(status.message()));
      return Finish();
    }
    delivering_ = true;
  }
  const std::shared_ptr<ClientStream> self = shared_from_this();
  executor_->Post([self, message = std::move(message),
                   next = AtEnd([self] { self->OnDelivered(); })]() mutable {
    if (!self->closed()) self->handler_.on_message(std::move(message));
  });
}

void ClientStream::OnFinished(bool ok) {
  {
    MutexLock lock(&mu_);
    broken_ = true;
    queue_.clear();
    end_ = peer_->Explain(reason_.ok() ? FromGrpcStatus(status_) : reason_);
    finished_ = true;
    // on_end comes after the last on_message has returned.
    if (!delivering_) PostEnd();
  }
  // After Remove the peer may be destroyed. A write may still be under way. It
  // ends at once and uses only the stream.
  peer_->Remove(this);
}

}  // namespace shoal
