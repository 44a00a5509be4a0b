#ifndef SHOAL_RPC_SERVER_UNARY_CALL_H_
#define SHOAL_RPC_SERVER_UNARY_CALL_H_

#include <grpcpp/grpcpp.h>

#include <memory>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/mutex.h"
#include "rpc/server/byte_budget.h"
#include "rpc/server/incoming_call.h"
#include "rpc/server/server_state.h"
#include "rpc/server/transfer_watch.h"
#include "rpc/transport/at_end.h"
#include "rpc/transport/completion_tag.h"

namespace shoal {

class UnaryHandler;

// One call with one request and one reply. It waits for room, reads the
// request, passes it to the handler and sends the reply. Deletes itself after
// its last event.
class UnaryCall final : private CompletionTag {
 public:
  // Serves a call that bears the token. `owner` is the call's connection;
  // `place` is destroyed when the call is over.
  static void Serve(ServerState* state, UnaryHandler* handler, uint64_t owner,
                    std::unique_ptr<IncomingCall> rpc, AtEnd place);
  // Answers a call with `status`, without reading the request.
  static void Refuse(ServerState* state, std::unique_ptr<IncomingCall> rpc,
                     absl::Status status);

  // Sends the handler's answer. REQUIRES: called once.
  void Reply(absl::StatusOr<grpc::ByteBuffer> reply);
  // Keeps `share` until the call is over.
  void Keep(ByteBudget::Share share);
  uint64_t owner() const { return owner_; }
  // The address of the client, as people write it ("10.0.0.1:40000").
  std::string Peer();
  // The time until the client's deadline; 0 after it. max_call_time if the
  // client gave no deadline, or one that is more than a day away.
  absl::Duration TimeLeft();

 private:
  enum class Step { kReading, kReplying };

  UnaryCall(ServerState* state, UnaryHandler* handler, uint64_t owner,
            std::unique_ptr<IncomingCall> rpc, std::optional<AtEnd> place);
  ~UnaryCall() = default;

  void WaitForRoom();
  void Read(ByteBudget::Share share);
  void OnEvent(bool ok) final;
  void OnRead(bool ok);

  ServerState* const state_;
  UnaryHandler* const handler_;  // null for a call that is refused
  const uint64_t owner_;
  std::optional<AtEnd> place_;

  Mutex mu_;
  const std::unique_ptr<IncomingCall> rpc_ ABSL_PT_GUARDED_BY(mu_);
  Step step_ ABSL_GUARDED_BY(mu_) = Step::kReading;
  grpc::ByteBuffer request_ ABSL_GUARDED_BY(mu_);
  TransferWatch::Entry transfer_ ABSL_GUARDED_BY(mu_);
  // The room of the request, read or decoded, and the room of the reply.
  ByteBudget::Share request_share_ ABSL_GUARDED_BY(mu_);
  ByteBudget::Share reply_share_ ABSL_GUARDED_BY(mu_);
};

}  // namespace shoal

#endif  // SHOAL_RPC_SERVER_UNARY_CALL_H_
