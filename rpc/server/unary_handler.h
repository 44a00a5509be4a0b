#ifndef SHOAL_RPC_SERVER_UNARY_HANDLER_H_
#define SHOAL_RPC_SERVER_UNARY_HANDLER_H_

#include <grpcpp/grpcpp.h>
#include <grpcpp/support/async_unary_call.h>

#include <functional>
#include <optional>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/mutex.h"
#include "rpc/server/server_state.h"
#include "rpc/transport/completion_tag.h"

namespace shoal {

// One place for a call of one method: waits for a call, has it served, replies,
// waits for the next. As many calls are served at once as a method has places.
class UnaryHandler : private CompletionTag {
 public:
  // How to ask gRPC for the next call of the method.
  using Accept = std::function<void(
      grpc::ServerContext*, grpc::ByteBuffer*,
      grpc::ServerAsyncResponseWriter<grpc::ByteBuffer>*, void* tag)>;

  UnaryHandler(ServerState* state, Accept accept)
      : state_(state), accept_(std::move(accept)) {}
  virtual ~UnaryHandler() = default;

  // Waits for the first call. Once.
  void Listen();

 protected:
  // The obligation to answer one call, on any thread. Where it is dropped
  // unused (a service lost the completion), the call ends as UNAVAILABLE.
  class Answer {
   public:
    explicit Answer(UnaryHandler* handler) : handler_(handler) {}
    Answer(Answer&& other) noexcept
        : handler_(std::exchange(other.handler_, nullptr)) {}
    Answer& operator=(Answer&&) = delete;
    ~Answer() {
      if (handler_ != nullptr) Send(absl::UnavailableError("shutting down"));
    }

    void Send(absl::StatusOr<grpc::ByteBuffer> reply) {
      std::exchange(handler_, nullptr)->Reply(std::move(reply));
    }

   private:
    UnaryHandler* handler_;
  };

  // Serves a call that bears the token. `request` is valid during the call
  // only; `timeout` is what the client's deadline leaves.
  virtual void Handle(const grpc::ByteBuffer& request, absl::Duration timeout,
                      Answer answer) = 0;

  ServerState* state() const { return state_; }

 private:
  struct Call {
    Call() : writer(&context) {}

    grpc::ServerContext context;
    grpc::ByteBuffer request;
    grpc::ServerAsyncResponseWriter<grpc::ByteBuffer> writer;
  };

  void OnEvent(bool ok) final;
  void AcceptNext() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Reply(absl::StatusOr<grpc::ByteBuffer> reply);
  absl::Duration TimeLeft() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  ServerState* const state_;
  const Accept accept_;
  Mutex mu_;
  std::optional<Call> call_ ABSL_GUARDED_BY(mu_);
  bool replied_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace shoal

#endif  // SHOAL_RPC_SERVER_UNARY_HANDLER_H_
