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

// The stream of one session, in the process that opened the session. Its
// operations and the handle that the process holds keep it alive. Thread-safe.
//
// The class has many members, because gRPC's stream has four operations (start,
// read, write, finish). For each of them the class has the operation, the
// object that the operation fills, and a bool that is true while it is under
// way.
class ClientStream final : public Peer::Activity,
                           public std::enable_shared_from_this<ClientStream> {
 public:
  // Callbacks run on `executor`; `probes` may wait for the network.
  ClientStream(Peer* peer, Executor* executor, Executor* probes,
               uint64_t max_queued_bytes, SessionHandler handler);

  // Opens the stream; its first message is `opening`.
  void Start(const SessionOpening& opening);
  void Send(ProcessMessage message);
  // Says that the process has closed its handle.
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
  // Ends the stream. on_end will get `reason`.
  void Abort(absl::Status reason) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  Peer* const peer_;
  Executor* const executor_;
  Executor* const probes_;
  const std::string address_;
  const uint64_t max_queued_bytes_;
  bool resumes_ = false;  // set before anything starts
  // Used only on the executor, one callback at a time.
  SessionHandler handler_;
  grpc::ClientContext context_;

  Mutex mu_;
  std::unique_ptr<
      grpc::ClientAsyncReaderWriter<grpc::ByteBuffer, grpc::ByteBuffer>>
      stream_ ABSL_GUARDED_BY(mu_);
  grpc::ByteBuffer read_ ABSL_GUARDED_BY(mu_);
  grpc::Status status_ ABSL_GUARDED_BY(mu_);
  absl::Status reason_ ABSL_GUARDED_BY(mu_);  // why we ended it; OK: we did not
  bool started_ ABSL_GUARDED_BY(mu_) = false;
  bool closed_ ABSL_GUARDED_BY(mu_) = false;  // by the process
  bool writing_ ABSL_GUARDED_BY(mu_) = false;
  // on_message is posted or runs, so no read is under way.
  bool delivering_ ABSL_GUARDED_BY(mu_) = false;
  bool finishing_ ABSL_GUARDED_BY(mu_) = false;
  bool finished_ ABSL_GUARDED_BY(mu_) = false;
  absl::Status end_ ABSL_GUARDED_BY(mu_);     // set when finished_ is
  bool broken_ ABSL_GUARDED_BY(mu_) = false;  // messages can no longer be sent
  std::deque<grpc::ByteBuffer> queue_ ABSL_GUARDED_BY(mu_);
  uint64_t queued_bytes_ ABSL_GUARDED_BY(mu_) = 0;

  Operation start_{this, &mu_, &ClientStream::OnStarted};
  Operation reading_op_{this, &mu_, &ClientStream::OnRead};
  Operation writing_op_{this, &mu_, &ClientStream::OnWritten};
  Operation finish_{this, &mu_, &ClientStream::OnFinished};
};

}  // namespace shoal

#endif  // SHOAL_RPC_CLIENT_CLIENT_STREAM_H_
