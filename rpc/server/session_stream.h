#ifndef SHOAL_RPC_SERVER_SESSION_STREAM_H_
#define SHOAL_RPC_SERVER_SESSION_STREAM_H_

#include <grpcpp/grpcpp.h>
#include <grpcpp/support/async_stream.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "base/mutex.h"
#include "core/cluster_service.h"
#include "rpc/server/server_state.h"
#include "rpc/transport/stream_operation.h"

namespace shoal {

// One session's stream, from the coordinator's side: waits for a process to
// open it, bridges it to a ClusterSession of the coordinator, and ends with
// whichever of the two ends first. Kept alive by its operations and by the
// coordinator's callbacks.
class SessionStream final : public std::enable_shared_from_this<SessionStream> {
 public:
  // How to ask gRPC for the next session.
  using Accept = std::function<void(
      grpc::ServerContext*,
      grpc::ServerAsyncReaderWriter<grpc::ByteBuffer, grpc::ByteBuffer>*,
      void* tag)>;
  // Runs when a process has taken this stream: another one has to wait for the
  // next process. And when the stream is over.
  struct Events {
    std::function<void()> on_taken;
    std::function<void()> on_over;
  };

  SessionStream(std::shared_ptr<ServerState> state, Events events)
      : state_(std::move(state)), events_(std::move(events)) {}

  void Listen(const Accept& accept);

 private:
  using Operation = StreamOperation<SessionStream>;

  void OnAccepted(bool ok);
  void OnRead(bool ok);
  void OnWritten(bool ok);
  void OnFinished(bool ok);

  absl::Status TakeMessage(const grpc::ByteBuffer& bytes);
  absl::Status Open(SessionOpening opening);
  void EndUnlessOpen(absl::Duration deadline);
  // From the coordinator.
  void Send(const CoordinatorMessage& message);

  void ReadNext() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void WriteNext() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Lets go of the coordinator's session and ends the stream: with `status`,
  // after what is queued if `flush`.
  void End(absl::Status status, bool flush);
  void FinishIfDrained() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // At the end of each event: lets go of the stream after its last.
  void LeaveIfOver();

  const std::shared_ptr<ServerState> state_;
  const Events events_;

  struct Rpc {
    grpc::ServerContext context;
    grpc::ServerAsyncReaderWriter<grpc::ByteBuffer, grpc::ByteBuffer> stream{
        &context};
  };

  Mutex mu_;
  // Until the stream is over: the coordinator may hold its callbacks, and so
  // this object, longer than the server lives.
  std::unique_ptr<Rpc> rpc_ ABSL_GUARDED_BY(mu_) = std::make_unique<Rpc>();
  grpc::ByteBuffer read_ ABSL_GUARDED_BY(mu_);
  std::shared_ptr<ClusterSession> session_ ABSL_GUARDED_BY(mu_);
  std::deque<grpc::ByteBuffer> queue_ ABSL_GUARDED_BY(mu_);
  uint64_t queued_bytes_ ABSL_GUARDED_BY(mu_) = 0;
  bool opened_ ABSL_GUARDED_BY(mu_) = false;
  bool reading_ ABSL_GUARDED_BY(mu_) = false;
  bool writing_ ABSL_GUARDED_BY(mu_) = false;
  bool ending_ ABSL_GUARDED_BY(mu_) = false;  // end_ is known
  absl::Status end_ ABSL_GUARDED_BY(mu_);
  bool finishing_ ABSL_GUARDED_BY(mu_) = false;  // the last operation runs
  bool finished_ ABSL_GUARDED_BY(mu_) = false;

  Operation accept_{this, &mu_, &SessionStream::OnAccepted};
  Operation read_op_{this, &mu_, &SessionStream::OnRead};
  Operation write_op_{this, &mu_, &SessionStream::OnWritten};
  Operation finish_op_{this, &mu_, &SessionStream::OnFinished};
};

}  // namespace shoal

#endif  // SHOAL_RPC_SERVER_SESSION_STREAM_H_
