#include <grpcpp/grpcpp.h>
#include <netdb.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "proto/shoal.grpc.pb.h"
#include "rpc/address.h"
#include "rpc/server.h"
#include "rpc/server/handlers.h"
#include "rpc/server/server_state.h"
#include "rpc/server/session_acceptor.h"

namespace shoal {
namespace {

// The generated services, every method of which we serve as bytes.
using Parameters = v1::ParameterServer::WithRawMethod_Pull<
    v1::ParameterServer::WithRawMethod_Push<
        v1::ParameterServer::WithRawMethod_PushChunk<
            v1::ParameterServer::WithRawMethod_Stats<
                v1::ParameterServer::Service>>>>;
using Cluster = v1::Cluster::WithRawMethod_Register<
    v1::Cluster::WithRawMethod_SaveCheckpoint<
        v1::Cluster::WithRawMethod_Session<v1::Cluster::Service>>>;

// Whether the address can be listened on, and if not, why and what to do: gRPC
// only logs that, at length.
absl::Status CheckListenable(const Address& address) {
  addrinfo hints = {};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int resolved = getaddrinfo(
      address.host.c_str(), absl::StrCat(address.port).c_str(), &hints, &found);
  const std::string prefix =
      absl::StrCat("cannot listen on ", address.ToString(), ": ");
  if (resolved != 0) {
    return absl::UnavailableError(
        absl::StrCat(prefix, gai_strerror(resolved), ": check the name"));
  }
  int error = 0;
  for (const addrinfo* a = found; a != nullptr && error == 0; a = a->ai_next) {
    const int fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, 0);
    if (fd < 0) continue;
    const int on = 1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (bind(fd, a->ai_addr, a->ai_addrlen) != 0 || listen(fd, 1) != 0) {
      error = errno;
    }
    close(fd);
  }
  freeaddrinfo(found);
  if (error == 0) return absl::OkStatus();
  if (error == EADDRINUSE) {
    return absl::AlreadyExistsError(absl::StrCat(
        prefix,
        "another process listens there: end it (an earlier run's "
        "shoal-ps?) or choose another address with --listen or --ps_hosts"));
  }
  return absl::UnavailableError(absl::StrCat(
      prefix, std::strerror(error),
      ": choose an address of this machine with --listen or --ps_hosts"));
}

int Millis(absl::Duration duration) {
  return static_cast<int>(absl::ToInt64Milliseconds(duration));
}

void Configure(const RpcServerOptions& options, grpc::ServerBuilder* builder) {
  builder->SetMaxReceiveMessageSize(
      static_cast<int>(options.max_message_bytes));
  builder->SetMaxSendMessageSize(-1);  // replies are bounded at the request
  grpc::ResourceQuota quota("shoal");
  quota.Resize(options.memory_quota_bytes);
  builder->SetResourceQuota(quota);
  // A message of a few bytes could unpack to any size.
  builder->SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_DEFLATE, false);
  builder->SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_GZIP, false);
  // Two servers must never share a port in silence.
  builder->AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder->AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS,
                              options.max_streams);
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS,
                              Millis(options.keepalive_time));
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS,
                              Millis(options.keepalive_timeout));
  builder->AddChannelArgument(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  // Our own clients ask for signs of life more often than gRPC's default
  // allows.
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
    if (server_ != nullptr) {
      server_->Shutdown(std::chrono::system_clock::now());
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
    SHOAL_RETURN_IF_ERROR(CheckListenable(address));
    grpc::ServerBuilder builder;
    Configure(options, &builder);
    int port = 0;
    builder.AddListeningPort(address.ToString(),
                             grpc::InsecureServerCredentials(), &port);
    builder.RegisterService(&parameters_);
    builder.RegisterService(&cluster_);
    queue_ = builder.AddCompletionQueue();
    server_ = builder.BuildAndStart();
    if (server_ == nullptr || port == 0) {
      // Someone else was faster.
      SHOAL_RETURN_IF_ERROR(CheckListenable(address));
      return absl::UnavailableError(
          absl::StrCat("cannot listen on ", address.ToString()));
    }
    address.port = port;
    address_ = address.ToString();
    Listen();
    for (int i = 0; i < options.threads; ++i) {
      threads_.emplace_back(
          [queue = queue_.get()] { CompletionTag::RunQueue(queue); });
      pthread_setname_np(threads_.back().native_handle(), "rpc server");
    }
    return absl::OkStatus();
  }

  ServerState* state() const { return state_.get(); }
  const std::string& address() const { return address_; }

 private:
  template <typename Handler, typename Service>
  void AddHandlers(int places, Service* service,
                   void (Service::*request)(
                       grpc::ServerContext*, grpc::ByteBuffer*,
                       grpc::ServerAsyncResponseWriter<grpc::ByteBuffer>*,
                       grpc::CompletionQueue*, grpc::ServerCompletionQueue*,
                       void*)) {
    for (int i = 0; i < places; ++i) {
      handlers_.push_back(std::make_unique<Handler>(
          state_.get(),
          [service, request, queue = queue_.get()](
              grpc::ServerContext* context, grpc::ByteBuffer* bytes,
              grpc::ServerAsyncResponseWriter<grpc::ByteBuffer>* writer,
              void* tag) {
            (service->*request)(context, bytes, writer, queue, queue, tag);
          }));
      handlers_.back()->Listen();
    }
  }

  void Listen() {
    const int places = state_->options().calls_in_flight;
    AddHandlers<PullHandler>(places, &parameters_, &Parameters::RequestPull);
    AddHandlers<PushHandler, Parameters>(places, &parameters_,
                                         &Parameters::RequestPush);
    AddHandlers<PushChunkHandler, Parameters>(places, &parameters_,
                                              &Parameters::RequestPushChunk);
    AddHandlers<StatsHandler, Parameters>(1, &parameters_,
                                          &Parameters::RequestStats);
    AddHandlers<RegisterHandler, Cluster>(places, &cluster_,
                                          &Cluster::RequestRegister);
    AddHandlers<SaveCheckpointHandler, Cluster>(
        1, &cluster_, &Cluster::RequestSaveCheckpoint);
    sessions_ = std::make_unique<SessionAcceptor>(
        state_.get(),
        [this](grpc::ServerContext* context,
               grpc::ServerAsyncReaderWriter<grpc::ByteBuffer,
                                             grpc::ByteBuffer>* stream,
               void* tag) {
          cluster_.RequestSession(context, stream, queue_.get(), queue_.get(),
                                  tag);
        });
    sessions_->Listen();
  }

  // Sessions' callbacks may hold on to it for a little longer.
  const std::shared_ptr<ServerState> state_;
  Parameters parameters_;
  Cluster cluster_;
  std::unique_ptr<grpc::ServerCompletionQueue> queue_;
  std::unique_ptr<grpc::Server> server_;
  std::string address_;
  std::vector<std::unique_ptr<UnaryHandler>> handlers_;
  std::unique_ptr<SessionAcceptor> sessions_;
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
  const CopyCounter* copies = impl_->state()->copies();
  return {copies->payload_bytes.load(), copies->copied_bytes.load()};
}

}  // namespace shoal
