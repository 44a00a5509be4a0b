#ifndef SHOAL_RPC_SERVER_SESSION_STREAM_H_
#define SHOAL_RPC_SERVER_SESSION_STREAM_H_

#include <grpcpp/support/byte_buffer.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "base/mutex.h"
#include "core/cluster_service.h"
#include "core/session_messages.h"
#include "rpc/server/incoming_call.h"
#include "rpc/server/server_state.h"
#include "rpc/transport/at_end.h"
#include "rpc/transport/stream_operation.h"

namespace shoal {

// The stream of one session, in the coordinator's process. It connects the
// stream to a ClusterSession of the coordinator. When one of the two ends, the
// other is ended too. Its operations and the coordinator's callbacks keep it
// alive.
class SessionStream final : public std::enable_shared_from_this<SessionStream> {
 public:
  // `place` is destroyed when the session ends. REQUIRES: the call bears the
  // token, and this process has a coordinator.
  static void Start(std::shared_ptr<ServerState> state,
                    std::unique_ptr<IncomingCall> rpc, AtEnd place);

 private:
  using Operation = StreamOperation<SessionStream>;

  SessionStream(std::shared_ptr<ServerState> state,
                std::unique_ptr<IncomingCall> rpc, AtEnd place)
      : state_(std::move(state)),
        rpc_(std::move(rpc)),
        place_(std::move(place)) {}

  void OnRead(bool ok);
  void OnWritten(bool ok);
  void OnFinished(bool ok);

  absl::Status TakeMessage(const grpc::ByteBuffer& bytes);
  absl::Status Open(SessionOpening opening);
  void EndUnlessOpen(absl::Duration deadline);
  // Sends a message of the coordinator.
  void Send(const CoordinatorMessage& message);

  void ReadNext() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void WriteNext() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Drops the coordinator's session and ends the stream with `status`. If
  // `flush`, the queued messages are sent first.
  void End(absl::Status status, bool flush);
  void FinishIfDrained() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Drops the stream if its last event has come. Called at the end of each
  // event.
  void LeaveIfOver();

  const std::shared_ptr<ServerState> state_;

  Mutex mu_;
  // Null after the stream is over, because the coordinator may hold its
  // callbacks, and so this object, longer than the server exists.
  std::unique_ptr<IncomingCall> rpc_ ABSL_GUARDED_BY(mu_);
  std::optional<AtEnd> place_ ABSL_GUARDED_BY(mu_);
  grpc::ByteBuffer read_ ABSL_GUARDED_BY(mu_);
  std::shared_ptr<ClusterSession> session_ ABSL_GUARDED_BY(mu_);
  std::deque<grpc::ByteBuffer> queue_ ABSL_GUARDED_BY(mu_);
  uint64_t queued_bytes_ ABSL_GUARDED_BY(mu_) = 0;
  bool opened_ ABSL_GUARDED_BY(mu_) = false;
  bool reading_ ABSL_GUARDED_BY(mu_) = false;
  bool writing_ ABSL_GUARDED_BY(mu_) = false;
  bool ending_ ABSL_GUARDED_BY(mu_) = false;  // end_ is set
  absl::Status end_ ABSL_GUARDED_BY(mu_);
  bool finishing_ ABSL_GUARDED_BY(mu_) = false;  // Finish has started
  bool finished_ ABSL_GUARDED_BY(mu_) = false;

  Operation read_op_{this, &mu_, &SessionStream::OnRead};
  Operation write_op_{this, &mu_, &SessionStream::OnWritten};
  Operation finish_op_{this, &mu_, &SessionStream::OnFinished};
};

}  // namespace shoal

#endif  // SHOAL_RPC_SERVER_SESSION_STREAM_H_
