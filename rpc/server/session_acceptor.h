#ifndef SHOAL_RPC_SERVER_SESSION_ACCEPTOR_H_
#define SHOAL_RPC_SERVER_SESSION_ACCEPTOR_H_

#include "absl/base/thread_annotations.h"
#include "base/mutex.h"
#include "rpc/server/session_stream.h"

namespace shoal {

// Keeps one stream waiting for the next session, up to max_sessions in all.
// Thread-safe.
class SessionAcceptor {
 public:
  // `state` outlives every stream; the acceptor too.
  SessionAcceptor(ServerState* state, SessionStream::Accept accept)
      : state_(state), accept_(std::move(accept)) {}

  // Waits for the first session. Once.
  void Listen();

 private:
  void OnTaken();
  void OnOver(bool was_taken);

  ServerState* const state_;
  const SessionStream::Accept accept_;
  Mutex mu_;
  int open_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace shoal

#endif  // SHOAL_RPC_SERVER_SESSION_ACCEPTOR_H_
