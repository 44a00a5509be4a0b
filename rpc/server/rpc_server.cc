#include <grpc/support/time.h>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/grpcpp.h>
#include <pthread.h>
#include <sys/resource.h>

#include <algorithm>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "rpc/address.h"
#include "rpc/server.h"
#include "rpc/server/call_acceptor.h"
#include "rpc/server/connection_gate.h"
#include "rpc/server/handlers.h"
#include "rpc/server/listening_sockets.h"
#include "rpc/server/server_state.h"
#include "rpc/transport/method_names.h"

namespace shoal {
namespace {

// The server's limits on connections. A connection takes two file descriptors,
// so the limits are lowered to what the process may open.
ConnectionLimits LimitsOf(const RpcServerOptions& options) {
  ConnectionLimits limits;
  limits.max_connections = options.max_connections;
  limits.max_unknown = options.max_unknown_connections;
  limits.max_unknown_of_host = options.max_unknown_connections_of_host;
  limits.max_refused_calls = options.max_refused_calls;
  limits.token_deadline = options.token_deadline;
  rlimit files = {};
  if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
    const int most = static_cast<int>(
        std::clamp<uint64_t>(files.rlim_cur, 64, uint64_t{1} << 20));
    limits.max_connections = std::min(limits.max_connections, most * 3 / 8);
    limits.max_unknown = std::min(limits.max_unknown, most / 8);
  }
  return limits;
}

// Large frames cost less to parse than small ones.
constexpr int kFrameBytes = 1 << 20;

int Millis(absl::Duration duration) {
  return static_cast<int>(absl::ToInt64Milliseconds(duration));
}

void Configure(const RpcServerOptions& options, grpc::ServerBuilder* builder) {
  builder->SetMaxReceiveMessageSize(
      static_cast<int>(options.max_message_bytes));
  builder->SetMaxSendMessageSize(-1);  // requests limit their replies
  grpc::ResourceQuota quota("shoal");
  quota.Resize(options.memory_quota_bytes());
  builder->SetResourceQuota(quota);
  if (!options.few_calls()) {
    builder->AddChannelArgument(GRPC_ARG_HTTP2_BDP_PROBE, 0);
    builder->AddChannelArgument(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES,
                                RpcServerOptions::kFixedWindowBytes);
  }
  builder->AddChannelArgument(GRPC_ARG_HTTP2_MAX_FRAME_SIZE, kFrameBytes);
  // A compressed message of a few bytes could unpack to any size.
  builder->SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_DEFLATE, false);
  builder->SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_GZIP, false);
  // Two servers must never share a port without an error.
  builder->AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder->AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS,
                              options.max_streams);
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS,
                              Millis(options.keepalive_time));
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS,
                              Millis(options.keepalive_timeout));
  builder->AddChannelArgument(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  // Our own clients send pings more often than gRPC's default allows.
  builder->AddChannelArgument(
      GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 500);
  builder->AddChannelArgument(GRPC_ARG_HTTP2_MAX_PING_STRIKES, 0);
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
}

}  // namespace

class RpcServer::Impl {
 public:
  Impl(const RpcServerOptions& options, ClusterService* cluster,
       Executor* executor)
      : state_(std::make_shared<ServerState>(options, cluster, executor)) {}

  ~Impl() {
    if (gate_ != nullptr) gate_->Stop();
    if (server_ != nullptr) {
      server_->Shutdown(gpr_now(GPR_CLOCK_MONOTONIC));
      state_->WaitUntilAllLeft();
    }
    if (queue_ != nullptr) {
      queue_->Shutdown();
      if (threads_.empty()) CompletionTag::RunQueue(queue_.get());
    }
    for (std::thread& thread : threads_) thread.join();
  }

  absl::Status Start() {
    const RpcServerOptions& options = state_->options();
    SHOAL_ASSIGN_OR_RETURN(Address address, ParseAddress(options.listen));
    SHOAL_ASSIGN_OR_RETURN(
        ListeningSockets sockets,
        ListeningSockets::Open(address, options.keepalive_timeout));
    address.port = sockets.port();
    address_ = address.ToString();
    gate_ = std::make_unique<ConnectionGate>(
        std::move(sockets), LimitsOf(options), state_->executor());
    grpc::ServerBuilder builder;
    Configure(options, &builder);
    connections_ = builder.experimental().AddExternalConnectionAcceptor(
        grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD,
        grpc::InsecureServerCredentials());
    builder.RegisterAsyncGenericService(&service_);
    queue_ = builder.AddCompletionQueue();
    server_ = builder.BuildAndStart();
    if (server_ == nullptr) {
      return absl::InternalError(
          absl::StrCat("gRPC cannot serve on ", address_));
    }
    Listen();
    for (int i = 0; i < options.threads; ++i) {
      threads_.emplace_back(
          [queue = queue_.get()] { CompletionTag::RunQueue(queue); });
      pthread_setname_np(threads_.back().native_handle(), "rpc server");
    }
    return gate_->Start([this](int listening_fd, int fd) {
      grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters
          connection;
      connection.listener_fd = listening_fd;
      connection.fd = fd;
      connections_->HandleNewConnection(&connection);
    });
  }

  ServerState* state() const { return state_.get(); }
  const std::string& address() const { return address_; }

 private:
  template <typename Handler>
  void Add(const char* method) {
    acceptor_->AddHandler(method, std::make_unique<Handler>(state_.get()));
  }

  void Listen() {
    acceptor_ = std::make_unique<CallAcceptor>(state_.get(), gate_.get(),
                                               &service_, queue_.get());
    Add<PullHandler>(kPullMethod);
    Add<PushHandler>(kPushMethod);
    Add<PushChunkHandler>(kPushChunkMethod);
    Add<StatsHandler>(kStatsMethod);
    Add<RegisterHandler>(kRegisterMethod);
    Add<SaveCheckpointHandler>(kSaveCheckpointMethod);
    acceptor_->AddSessions();
    acceptor_->Listen();
  }

  // Shared, because the callbacks of sessions may hold it a little longer.
  const std::shared_ptr<ServerState> state_;
  std::unique_ptr<ConnectionGate> gate_;
  grpc::AsyncGenericService service_;
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> connections_;
  std::unique_ptr<grpc::ServerCompletionQueue> queue_;
  std::unique_ptr<grpc::Server> server_;
  std::string address_;
  std::unique_ptr<CallAcceptor> acceptor_;
  std::vector<std::thread> threads_;
};

absl::StatusOr<std::unique_ptr<RpcServer>> RpcServer::Start(
    RpcServerOptions options, ClusterService* cluster, Executor* executor) {
  SHOAL_RETURN_IF_ERROR(options.Validate());
  auto impl = std::make_unique<Impl>(options, cluster, executor);
  SHOAL_RETURN_IF_ERROR(impl->Start());
  return std::unique_ptr<RpcServer>(new RpcServer(std::move(impl)));
}

RpcServer::RpcServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

RpcServer::~RpcServer() = default;

void RpcServer::AttachParameterService(ParameterService* parameters) {
  impl_->state()->set_parameters(parameters);
}

const std::string& RpcServer::address() const { return impl_->address(); }

CopyStats RpcServer::copy_stats() const {
  const CopyCounter* pulls = impl_->state()->pull_copies();
  const CopyCounter* pushes = impl_->state()->push_copies();
  return {pulls->payload_bytes.load() + pushes->payload_bytes.load(),
          pulls->copied_bytes.load() + pushes->copied_bytes.load()};
}

}  // namespace shoal
