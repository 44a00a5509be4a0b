#ifndef SHOAL_RPC_SERVER_SERVER_STATE_H_
#define SHOAL_RPC_SERVER_SERVER_STATE_H_

#include <grpcpp/server_context.h>

#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "base/executor.h"
#include "base/mutex.h"
#include "base/object_pool.h"
#include "core/cluster_service.h"
#include "core/parameter_service.h"
#include "rpc/server.h"
#include "rpc/server/byte_budget.h"
#include "rpc/server/transfer_watch.h"
#include "wire/codec/chunk_assembler.h"
#include "wire/codec/codec_limits.h"
#include "wire/codec/pull_frame.h"
#include "wire/codec/push_frame.h"
#include "wire/codec/wire_buffer.h"

namespace shoal {

// The state that all handlers of one server share. Thread-safe.
class ServerState : public std::enable_shared_from_this<ServerState> {
 public:
  ServerState(const RpcServerOptions& options, ClusterService* cluster,
              Executor* executor);

  const RpcServerOptions& options() const { return options_; }
  const CodecLimits& limits() const { return limits_; }
  Executor* executor() const { return executor_; }
  WireBufferPool* buffers() const { return buffers_.get(); }
  CopyCounter* pull_copies() { return &pull_copies_; }
  CopyCounter* push_copies() { return &push_copies_; }
  // A reply to a pull with values of so many bytes is being sent.
  void CountReply(uint64_t value_bytes) {
    if (options_.payload == nullptr) return;
    options_.payload->pull.sent.fetch_add(value_bytes,
                                          std::memory_order_relaxed);
  }
  ObjectPool<PullFrame>* pull_frames() { return &pull_frames_; }
  ObjectPool<PushFrame>* push_frames() { return &push_frames_; }
  // Room for requests that are read or served, and for replies.
  ByteBudget* request_budget() { return &request_budget_; }
  ByteBudget* reply_budget() { return &reply_budget_; }
  TransferWatch* transfers() const { return transfers_.get(); }

  // UNAUTHENTICATED if the call does not bear the token.
  absl::Status Authenticate(const grpc::ServerContext& context) const;

  void set_parameters(ParameterService* parameters);
  // UNAVAILABLE until set_parameters was called.
  absl::StatusOr<ParameterService*> parameters();
  // UNIMPLEMENTED if this process has no coordinator.
  absl::StatusOr<ClusterService*> cluster() const;

  // ChunkAssembler::Add. Uploads that are not complete in time are dropped.
  absl::StatusOr<std::optional<ChunkAssembler::Whole>> Stage(
      const PushChunk& chunk, std::shared_ptr<const void> owner);
  // ChunkAssembler::Release.
  void ReleaseStaged(uint64_t bytes);

  // A call or session is inside from its first operation or service call to its
  // last. The completion queue must not be shut down before all have left.
  void Enter();
  void Leave();
  void WaitUntilAllLeft();

 private:
  void ScheduleExpiry(absl::Time when) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const RpcServerOptions options_;
  const CodecLimits limits_;
  ClusterService* const cluster_;
  Executor* const executor_;
  const std::string authorization_;
  const std::shared_ptr<WireBufferPool> buffers_;
  CopyCounter pull_copies_;
  CopyCounter push_copies_;
  ObjectPool<PullFrame> pull_frames_;
  ObjectPool<PushFrame> push_frames_;
  ByteBudget request_budget_;
  ByteBudget reply_budget_;
  const std::shared_ptr<TransferWatch> transfers_;

  Mutex mu_;
  CondVar all_left_;
  int inside_ ABSL_GUARDED_BY(mu_) = 0;
  ParameterService* parameters_ ABSL_GUARDED_BY(mu_) = nullptr;
  ChunkAssembler assembler_ ABSL_GUARDED_BY(mu_);
  bool expiry_scheduled_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace shoal

#endif  // SHOAL_RPC_SERVER_SERVER_STATE_H_
