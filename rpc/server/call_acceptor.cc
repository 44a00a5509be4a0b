#include "rpc/server/call_acceptor.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "rpc/server/session_stream.h"
#include "rpc/server/unary_call.h"
#include "rpc/transport/at_end.h"
#include "rpc/transport/completion_tag.h"
#include "rpc/transport/method_names.h"

namespace shoal {
namespace {

// Calls that gRPC may hand over before the first of them is handled.
constexpr int kSlots = 16;

}  // namespace

// Waits for one call at a time, and passes it to CallAcceptor::Take.
class CallAcceptor::Slot final : private CompletionTag {
 public:
  explicit Slot(CallAcceptor* acceptor) : acceptor_(acceptor) {}

  void Listen() {
    rpc_ = std::make_unique<IncomingCall>();
    // The event may come on another thread before RequestCall returns, so this
    // object is not used after the call.
    grpc::AsyncGenericService* const service = acceptor_->service_;
    grpc::ServerCompletionQueue* const queue = acceptor_->queue_;
    IncomingCall* const rpc = rpc_.get();
    service->RequestCall(&rpc->context, &rpc->stream, queue, queue, Tag());
  }

 private:
  void OnEvent(bool ok) override {
    std::unique_ptr<IncomingCall> rpc = std::move(rpc_);
    CallAcceptor* const acceptor = acceptor_;
    // Not ok: the server shuts down.
    if (!ok) return acceptor->state_->Leave();
    Listen();
    acceptor->Take(std::move(rpc));
  }

  CallAcceptor* const acceptor_;
  std::unique_ptr<IncomingCall> rpc_;
};

CallAcceptor::CallAcceptor(ServerState* state, ConnectionGate* gate,
                           grpc::AsyncGenericService* service,
                           grpc::ServerCompletionQueue* queue)
    : state_(state),
      gate_(gate),
      service_(service),
      queue_(queue),
      strangers_(state->options().on_refused) {}

CallAcceptor::~CallAcceptor() = default;

void CallAcceptor::AddHandler(std::string method,
                              std::unique_ptr<UnaryHandler> handler) {
  SHOAL_DCHECK(slots_.empty());
  handlers_[std::move(method)] = std::move(handler);
}

void CallAcceptor::Listen() {
  SHOAL_DCHECK(slots_.empty());
  for (int i = 0; i < kSlots; ++i) {
    slots_.push_back(std::make_unique<Slot>(this));
    state_->Enter();
    slots_.back()->Listen();
  }
}

void CallAcceptor::Take(std::unique_ptr<IncomingCall> rpc) {
  absl::Status authentic = state_->Authenticate(rpc->context);
  const uint64_t connection =
      gate_ == nullptr ? 0
                       : gate_->OnCall(rpc->context.peer(), authentic.ok());
  if (!authentic.ok()) {
    strangers_.Refused(rpc->context.peer(), authentic);
    return Refuse(std::move(rpc), std::move(authentic));
  }
  const std::string& method = rpc->context.method();
  if (has_sessions_ && method == kSessionMethod) {
    return StartSession(std::move(rpc));
  }
  const auto found = handlers_.find(method);
  if (found == handlers_.end()) {
    absl::Status unknown =
        absl::UnimplementedError(absl::StrCat("there is no method ", method));
    return Refuse(std::move(rpc), std::move(unknown));
  }
  StartUnary(found->second.get(), connection, std::move(rpc));
}

void CallAcceptor::Refuse(std::unique_ptr<IncomingCall> rpc,
                          absl::Status status) {
  UnaryCall::Refuse(state_, std::move(rpc), std::move(status));
}

void CallAcceptor::StartUnary(UnaryHandler* handler, uint64_t connection,
                              std::unique_ptr<IncomingCall> rpc) {
  absl::Status begun = BeginCall(connection);
  if (!begun.ok()) return Refuse(std::move(rpc), std::move(begun));
  AtEnd place([this, connection] { EndCall(connection); });
  UnaryCall::Serve(state_, handler, connection, std::move(rpc),
                   std::move(place));
}

absl::Status CallAcceptor::BeginCall(uint64_t connection) {
  const RpcServerOptions& options = state_->options();
  MutexLock lock(&mu_);
  if (calls_ >= options.max_calls) {
    return absl::ResourceExhaustedError(
        absl::StrCat(calls_, " calls wait or are served; the limit is ",
                     options.max_calls, ": retry later"));
  }
  // A client that follows HTTP/2 never has more: gRPC tells it the limit.
  int& calls = calls_of_connection_[connection];
  if (calls >= options.max_streams) {
    return absl::ResourceExhaustedError(
        absl::StrCat(calls, " calls of this connection wait or are served; ",
                     "the limit is ", options.max_streams, ": retry later"));
  }
  ++calls;
  ++calls_;
  return absl::OkStatus();
}

void CallAcceptor::EndCall(uint64_t connection) {
  MutexLock lock(&mu_);
  --calls_;
  const auto found = calls_of_connection_.find(connection);
  SHOAL_DCHECK(found != calls_of_connection_.end());
  if (--found->second == 0) calls_of_connection_.erase(found);
}

void CallAcceptor::StartSession(std::unique_ptr<IncomingCall> rpc) {
  const absl::Status served = state_->cluster().status();
  if (!served.ok()) return Refuse(std::move(rpc), served);
  const int others = sessions_++;
  AtEnd place([this] { --sessions_; });
  const int most = state_->options().max_sessions;
  if (others >= most) {
    return Refuse(std::move(rpc), absl::ResourceExhaustedError(absl::StrCat(
                                      others, " sessions are open; the limit ",
                                      "is ", most, ": retry later")));
  }
  SessionStream::Start(state_->shared_from_this(), std::move(rpc),
                       std::move(place));
}

}  // namespace shoal
