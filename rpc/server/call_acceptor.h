#ifndef SHOAL_RPC_SERVER_CALL_ACCEPTOR_H_
#define SHOAL_RPC_SERVER_CALL_ACCEPTOR_H_

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "base/mutex.h"
#include "rpc/server/connection_gate.h"
#include "rpc/server/incoming_call.h"
#include "rpc/server/server_state.h"
#include "rpc/server/stranger_log.h"
#include "rpc/server/unary_handler.h"

namespace shoal {

// Accepts the calls of all methods of a server. At that time only the metadata
// of a call has been read. Calls without the token, of an unknown method or
// beyond a limit are refused. Other calls go to the handler of their method, or
// become sessions. Thread-safe.
class CallAcceptor {
 public:
  // All arguments must outlive the acceptor. `gate` may be null: then the calls
  // of all connections count as those of one connection. The acceptor must
  // outlive every call (ServerState::Leave).
  CallAcceptor(ServerState* state, ConnectionGate* gate,
               grpc::AsyncGenericService* service,
               grpc::ServerCompletionQueue* queue);
  ~CallAcceptor();

  // REQUIRES: Listen was not called.
  void AddHandler(std::string method, std::unique_ptr<UnaryHandler> handler);

  // Lets calls of the Session method become sessions; otherwise there is no
  // such method. REQUIRES: Listen was not called.
  void AddSessions() { has_sessions_ = true; }

  // Starts to accept calls. REQUIRES: called once.
  void Listen();

 private:
  class Slot;

  void Take(std::unique_ptr<IncomingCall> rpc);
  void StartUnary(UnaryHandler* handler, uint64_t connection,
                  std::unique_ptr<IncomingCall> rpc);
  void StartSession(std::unique_ptr<IncomingCall> rpc);
  void Refuse(std::unique_ptr<IncomingCall> rpc, absl::Status status);
  // Counts a call, unless a limit is reached (RESOURCE_EXHAUSTED). EndCall
  // takes the call off again.
  absl::Status BeginCall(uint64_t connection);
  void EndCall(uint64_t connection);

  ServerState* const state_;
  ConnectionGate* const gate_;
  grpc::AsyncGenericService* const service_;
  grpc::ServerCompletionQueue* const queue_;
  absl::flat_hash_map<std::string, std::unique_ptr<UnaryHandler>> handlers_;
  std::vector<std::unique_ptr<Slot>> slots_;
  bool has_sessions_ = false;
  std::atomic<int> sessions_{0};
  StrangerLog strangers_;

  Mutex mu_;
  int calls_ ABSL_GUARDED_BY(mu_) = 0;
  absl::flat_hash_map<uint64_t, int> calls_of_connection_ ABSL_GUARDED_BY(mu_);
};

}  // namespace shoal

#endif  // SHOAL_RPC_SERVER_CALL_ACCEPTOR_H_
