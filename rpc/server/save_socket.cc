#include "rpc/save_socket.h"

#include <grpc/support/time.h>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/grpcpp.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "rpc/server/call_acceptor.h"
#include "rpc/server/handlers.h"
#include "rpc/server/server_state.h"
#include "rpc/transport/method_names.h"

namespace shoal {
namespace {

constexpr int kStreams = 16;         // calls on one connection
constexpr int kMessageBytes = 4096;  // of a request
constexpr size_t kMemoryBytes = 16 << 20;

RpcServerOptions StateOptions() {
  RpcServerOptions options;
  options.max_calls = RpcServerOptions::kFewCalls;
  options.max_streams = options.max_calls;
  return options;
}

absl::Status CheckPath(const std::string& path) {
  const bool plain =
      std::all_of(path.begin(), path.end(), [](unsigned char c) {
        return absl::ascii_isalnum(c) || c == '/' || c == '.' || c == '_' ||
               c == '-';
      });
  if (plain && absl::StartsWith(path, "/") &&
      path.size() <= SaveSocket::kPathMax) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "'", path, "' cannot be the path of a socket: it must be absolute, of at "
      "most ", SaveSocket::kPathMax, " letters, digits and /._-"));
}

void Configure(grpc::ServerBuilder* builder) {
  builder->SetMaxReceiveMessageSize(kMessageBytes);
  grpc::ResourceQuota quota("save socket");
  quota.Resize(kMemoryBytes);
  builder->SetResourceQuota(quota);
  builder->SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_DEFLATE, false);
  builder->SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_GZIP, false);
  builder->AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kStreams);
  // Our own clients send pings more often than gRPC's default allows.
  builder->AddChannelArgument(
      GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 500);
  builder->AddChannelArgument(GRPC_ARG_HTTP2_MAX_PING_STRIKES, 0);
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
}

}  // namespace

class SaveSocket::Impl {
 public:
  Impl(std::string path, ClusterService* cluster, Executor* executor)
      : path_(std::move(path)),
        state_(std::make_shared<ServerState>(StateOptions(), cluster,
                                             executor)) {}

  ~Impl() {
    if (server_ != nullptr) {
      server_->Shutdown(gpr_now(GPR_CLOCK_MONOTONIC));
      state_->WaitUntilAllLeft();
      unlink(path_.c_str());  // gRPC may have removed it already
    }
    if (queue_ != nullptr) {
      queue_->Shutdown();
      if (!thread_.joinable()) CompletionTag::RunQueue(queue_.get());
    }
    if (thread_.joinable()) thread_.join();
  }

  absl::Status Start(const std::string& job) {
    grpc::ServerBuilder builder;
    Configure(&builder);
    int listens = 0;
    builder.AddListeningPort(absl::StrCat("unix:", path_),
                             grpc::InsecureServerCredentials(), &listens);
    builder.RegisterAsyncGenericService(&service_);
    queue_ = builder.AddCompletionQueue();
    server_ = builder.BuildAndStart();
    if (server_ == nullptr || listens == 0) {
      return absl::UnavailableError(
          absl::StrCat("cannot listen on the socket ", path_));
    }
    if (chmod(path_.c_str(), S_IRUSR | S_IWUSR) != 0) {
      return absl::UnavailableError(
          absl::StrCat("cannot listen on the socket ", path_,
                       ": chmod: ", std::strerror(errno)));
    }
    acceptor_ = std::make_unique<CallAcceptor>(state_.get(), /*gate=*/nullptr,
                                               &service_, queue_.get());
    acceptor_->AddHandler(
        kSaveCheckpointMethod,
        std::make_unique<SaveCheckpointHandler>(state_.get(), job));
    acceptor_->Listen();
    thread_ = std::thread(
        [queue = queue_.get()] { CompletionTag::RunQueue(queue); });
    pthread_setname_np(thread_.native_handle(), "save socket");
    return absl::OkStatus();
  }

 private:
  const std::string path_;
  const std::shared_ptr<ServerState> state_;
  grpc::AsyncGenericService service_;
  std::unique_ptr<grpc::ServerCompletionQueue> queue_;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<CallAcceptor> acceptor_;
  std::thread thread_;
};

absl::StatusOr<std::unique_ptr<SaveSocket>> SaveSocket::Listen(
    const std::string& path, const std::string& job, ClusterService* cluster,
    Executor* executor) {
  SHOAL_RETURN_IF_ERROR(CheckPath(path));
  auto impl = std::make_unique<Impl>(path, cluster, executor);
  SHOAL_RETURN_IF_ERROR(impl->Start(job));
  return std::unique_ptr<SaveSocket>(new SaveSocket(std::move(impl)));
}

SaveSocket::SaveSocket(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

SaveSocket::~SaveSocket() = default;

}  // namespace shoal
