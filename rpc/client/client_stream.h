#ifndef SHOAL_RPC_CLIENT_CLIENT_STREAM_H_
#define SHOAL_RPC_CLIENT_CLIENT_STREAM_H_

#include <grpcpp/grpcpp.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "base/executor.h"
#include "base/mutex.h"
#include "core/cluster_service.h"
#include "core/session_messages.h"
#include "rpc/client/peer.h"
#include "rpc/transport/stream_operation.h"

namespace shoal {

// One session's stream, from the process's side. Thread-safe. Kept alive by its
// operations and by the handle that the process holds. It has many members: of
// each of the four operations of gRPC's stream (start, read, write, finish) the
// operation, what it fills and whether it is under way.
class ClientStream final : public Peer::Activity,
                           public std::enable_shared_from_this<ClientStream> {
 public:
  // Callbacks run on `executor`; `probes` may wait for the network.
  ClientStream(Peer* peer, Executor* executor, Executor* probes,
               uint64_t max_queued_bytes, SessionHandler handler);

  // Opens the stream; its first message is `opening`.
  void Start(const SessionOpening& opening);
  void Send(ProcessMessage message);
  // The process wants no more of it.
  void Close();
  void Cancel() override;

 private:
  using Operation = StreamOperation<ClientStream>;

  bool closed();
  void OnStarted(bool ok);
  void OnRead(bool ok);
  void OnWritten(bool ok);
  void OnFinished(bool ok);

  void Queue(const grpc::ByteBuffer& bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void WriteNext() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void ReadNext() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void OnDelivered();
  void PostEnd() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Deliver(absl::Status end);
  void Finish() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Ends the stream for a reason of our own, which on_end will say.
  void Abort(absl::Status reason) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  Peer* const peer_;
  Executor* const executor_;
  Executor* const probes_;
  const std::string address_;
  const uint64_t max_queued_bytes_;
  bool resumes_ = false;  // set before anything starts
  // Used on the executor alone, one callback at a time.
  SessionHandler handler_;
  grpc::ClientContext context_;

  Mutex mu_;
  std::unique_ptr<
      grpc::ClientAsyncReaderWriter<grpc::ByteBuffer, grpc::ByteBuffer>>
      stream_ ABSL_GUARDED_BY(mu_);
  grpc::ByteBuffer read_ ABSL_GUARDED_BY(mu_);
  grpc::Status status_ ABSL_GUARDED_BY(mu_);
  absl::Status reason_ ABSL_GUARDED_BY(mu_);  // ours, for the end
  bool started_ ABSL_GUARDED_BY(mu_) = false;
  bool closed_ ABSL_GUARDED_BY(mu_) = false;  // by the process
  bool writing_ ABSL_GUARDED_BY(mu_) = false;
  // A message is with the process, so no read is under way.
  bool delivering_ ABSL_GUARDED_BY(mu_) = false;
  bool finishing_ ABSL_GUARDED_BY(mu_) = false;
  bool finished_ ABSL_GUARDED_BY(mu_) = false;
  absl::Status end_ ABSL_GUARDED_BY(mu_);     // once finished
  bool broken_ ABSL_GUARDED_BY(mu_) = false;  // takes nothing to send any more
  std::deque<grpc::ByteBuffer> queue_ ABSL_GUARDED_BY(mu_);
  uint64_t queued_bytes_ ABSL_GUARDED_BY(mu_) = 0;

  Operation start_{this, &mu_, &ClientStream::OnStarted};
  Operation reading_op_{this, &mu_, &ClientStream::OnRead};
  Operation writing_op_{this, &mu_, &ClientStream::OnWritten};
  Operation finish_{this, &mu_, &ClientStream::OnFinished};
};

}  // namespace shoal

#endif  // SHOAL_RPC_CLIENT_CLIENT_STREAM_H_
