#ifndef SHOAL_COORDINATOR_SESSION_TABLE_H_
#define SHOAL_COORDINATOR_SESSION_TABLE_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "core/cluster_service.h"
#include "core/resend_queue.h"
#include "core/session_messages.h"

namespace shoal {

// The coordinator's end of one connection, shared with the ClusterSession
// object of the process.
struct SessionConnection {
  explicit SessionConnection(SessionHandler h) : handler(std::move(h)) {}

  SessionHandler handler;         // the strand's
  uint64_t session = 0;           // the strand's; 0: carries no session
  // Messages that the strand has not taken, and their bytes.
  std::atomic<int> queued{0};
  std::atomic<uint64_t> queued_bytes{0};
  std::atomic<bool> dead{false};  // nothing that still comes on it counts
};

// The sessions of a coordinator and the connections that carry them. A session
// outlives its connection: messages sent meanwhile wait, and messages that the
// process has not taken are sent again over the next connection. Owned by the
// coordinator's strand.
class SessionTable {
 public:
  using Connection = std::shared_ptr<SessionConnection>;

  // Bytes that may wait for one process's acknowledgement; see ResendQueue.
  static constexpr uint64_t kMaxUnacknowledgedBytes = 64 << 20;

  // Begins a session, carried by `connection`.
  void Open(uint64_t session, Connection connection);

  // The session goes on over `connection`. The process has taken its first
  // `taken` messages: SessionResumed and the later messages are sent. Another
  // connection that carries the session ends (ABORTED). Errors, which change
  // nothing: NOT_FOUND (no such session), and those of ResendQueue::After.
  absl::Status Resume(uint64_t session, uint64_t taken, Connection connection);

  // A message came on `connection`: counts it as taken, and returns its
  // session, or 0 if the connection carries no session any more.
  uint64_t Take(const SessionConnection& connection,
                const ProcessMessage& message);

  void Send(uint64_t session, CoordinatorMessage message);

  // The connection ends with `status`; its session goes on. Returns the session
  // that it carried, or 0.
  uint64_t Break(const Connection& connection, const absl::Status& status);

  // The session is over: its connection, if there is one, ends with `status`.
  void End(uint64_t session, const absl::Status& status);
  void EndAll(const absl::Status& status);

 private:
  struct Session {
    Connection connection;  // null: broken
    uint64_t taken = 0;     // messages taken from the process
    ResendQueue<CoordinatorMessage> sent{kMaxUnacknowledgedBytes};
    // Number of the newest FilePart among `sent`. The next FileRequest says
    // that it is taken, so that parts do not pile up between two heartbeats.
    uint64_t file_part = 0;
  };

  std::map<uint64_t, Session> sessions_;
};

}  // namespace shoal

#endif  // SHOAL_COORDINATOR_SESSION_TABLE_H_
