#ifndef SHOAL_RPC_SERVER_UNARY_HANDLER_H_
#define SHOAL_RPC_SERVER_UNARY_HANDLER_H_

#include <grpcpp/support/byte_buffer.h>

#include <string>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "rpc/server/server_state.h"
#include "rpc/server/unary_call.h"

namespace shoal {

// Serves the calls of one method. Many calls may be under way at once.
// Thread-safe.
class UnaryHandler {
 public:
  explicit UnaryHandler(ServerState* state) : state_(state) {}
  virtual ~UnaryHandler() = default;

  // The obligation to answer one call, on any thread. If it is destroyed before
  // Send, because a service dropped the completion, the call ends with
  // UNAVAILABLE.
  class Answer {
   public:
    explicit Answer(UnaryCall* call) : call_(call) {}
    Answer(Answer&& other) noexcept
        : call_(std::exchange(other.call_, nullptr)) {}
    Answer& operator=(Answer&&) = delete;
    ~Answer() {
      if (call_ != nullptr) Send(absl::UnavailableError("shutting down"));
    }

    void Send(absl::StatusOr<grpc::ByteBuffer> reply) {
      std::exchange(call_, nullptr)->Reply(std::move(reply));
    }

    // Number of the connection on which the call came.
    uint64_t owner() const { return call_->owner(); }
    // The address of the other side, as people write it.
    std::string peer() const { return call_->Peer(); }
    // The time that the client's deadline leaves, for a call that has waited.
    absl::Duration TimeLeft() const { return call_->TimeLeft(); }
    // Keeps the room of the reply until the call is over.
    void Keep(ByteBudget::Share share) { call_->Keep(std::move(share)); }

   private:
    UnaryCall* call_;
  };

  // Serves a call that bears the token. `request` is valid until Handle
  // returns. `timeout` is the time that the client's deadline leaves.
  virtual void Handle(const grpc::ByteBuffer& request, absl::Duration timeout,
                      Answer answer) = 0;

 protected:
  ServerState* state() const { return state_; }

 private:
  ServerState* const state_;
};

}  // namespace shoal

#endif  // SHOAL_RPC_SERVER_UNARY_HANDLER_H_
