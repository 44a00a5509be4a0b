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

// The session of one life from the process's side. It outlives the connections
// that carry it: what is sent while there is none waits, and what the
// coordinator has not taken when a connection breaks is sent again over the
// next one. The member makes the connections. Thread-safe.
class MemberSession final : public ClusterSession {
 public:
  // What may wait to be acknowledged; see ResendQueue.
  static constexpr uint64_t kMaxUnacknowledgedBytes = 256 << 20;

  // After Close nothing is sent any more.
  void Send(ProcessMessage message) override;

  // From now on `connection` carries the session, of which the coordinator has
  // taken the first `taken` messages. Errors: those of ResendQueue::After; the
  // session cannot go on.
  absl::Status Carry(std::shared_ptr<ClusterSession> connection,
                     uint64_t taken);
  // The coordinator has taken the first `taken` messages.
  void Acknowledge(uint64_t taken);
  // The connection broke; ends it.
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
