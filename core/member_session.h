#ifndef SHOAL_CORE_MEMBER_SESSION_H_
#define SHOAL_CORE_MEMBER_SESSION_H_

#include <cstdint>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "base/mutex.h"
#include "core/cluster_service.h"
#include "core/resend_queue.h"
#include "core/session_messages.h"

namespace shoal {

// The process's side of the session of one life. The session outlives the
// connections that carry it. A message that is sent while there is no
// connection waits. A message that the coordinator had not taken when a
// connection broke is sent again over the next connection. ClusterMember makes
// the connections. Thread-safe.
class MemberSession final : public ClusterSession {
 public:
  // The most bytes of messages that wait to be acknowledged; see ResendQueue.
  static constexpr uint64_t kMaxUnacknowledgedBytes = 256 << 20;

  // Sends nothing after Close.
  void Send(ProcessMessage message) override;

  // From now on `connection` carries the session, of which the coordinator has
  // taken the first `taken` messages. Errors: those of ResendQueue::After; the
  // session cannot go on.
  absl::Status Carry(std::shared_ptr<ClusterSession> connection,
                     uint64_t taken);
  // The coordinator has taken the first `taken` messages.
  void Acknowledge(uint64_t taken);
  // The connection broke. Ends the connection, not the session.
  void Break();
  // The life is over.
  void Close();

 private:
  Mutex mu_;
  bool closed_ ABSL_GUARDED_BY(mu_) = false;
  std::shared_ptr<ClusterSession> connection_ ABSL_GUARDED_BY(mu_);
  ResendQueue<ProcessMessage> sent_ ABSL_GUARDED_BY(mu_){
      kMaxUnacknowledgedBytes};
};

}  // namespace shoal

#endif  // SHOAL_CORE_MEMBER_SESSION_H_
