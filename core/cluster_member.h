#ifndef SHOAL_CORE_CLUSTER_MEMBER_H_
#define SHOAL_CORE_CLUSTER_MEMBER_H_

#include <memory>
#include <string>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "base/executor.h"
#include "base/logger.h"
#include "core/cluster_service.h"
#include "core/registration.h"
#include "core/session_messages.h"

namespace shoal {

struct ClusterMemberOptions {
  RegisterRequest registration;
  // True: register again for a new life when a life is over (a worker, which
  // keeps no state). False: end with an error (a PS, whose state the job has
  // given up).
  bool rejoin = true;
  // Time to try to reach the coordinator: for the first life, and after a life
  // is over.
  absl::Duration start_deadline = absl::Seconds(120);
  absl::Duration reconnect_deadline = absl::Seconds(10);
  // Time to wait for the end of the session after Bye was sent.
  absl::Duration shutdown_deadline = absl::Seconds(5);
};

// The end of a process's part in a job. `status` is OK if the job ended well or
// the process left with Leave. `summary` is the coordinator's closing text, for
// people.
struct MemberEnd {
  absl::Status status;
  std::string summary;
  bool job_over = false;  // the coordinator ended the job with `status`
  // True if the job has lost a process, so that the same job may go on from its
  // newest checkpoint: the coordinator said so (LostProcess,
  // RefusedByLostJob), or this process was in the job and lost the coordinator.
  bool lost = false;
  // True if this process was in the job, was taken for dead, and is refused
  // now: the job goes on without it. `status` says what it can do.
  bool left_behind = false;
};

// Callbacks of ClusterMember. All run on the member's strand.
struct ClusterMemberHandlers {
  // A life begins. The session is for sending; it ends with the life, not with
  // a connection.
  absl::AnyInvocable<void(const RegisterReply&,
                          std::shared_ptr<ClusterSession>)>
      on_joined;
  // A message of the present life has arrived. The member itself answers JobEnd
  // and turns HeartbeatAck into on_acknowledged.
  absl::AnyInvocable<void(CoordinatorMessage)> on_message;
  // The coordinator has acknowledged the registration (right after on_joined)
  // or a heartbeat that this process sent at `sent`. A lease with the
  // coordinator runs from `sent`. May be null.
  absl::AnyInvocable<void(absl::Time sent)> on_acknowledged;
  // The life that on_joined began is over; another may follow.
  absl::AnyInvocable<void()> on_left;
  // Returns the next Heartbeat. Called every heartbeat interval of a life.
  absl::AnyInvocable<Heartbeat()> heartbeat;
  // Returns SessionOpening::marks. Called when a session is resumed. Null if
  // the process has no shard.
  absl::AnyInvocable<MarkTotals()> marks;
  // Called once, after all other callbacks.
  absl::AnyInvocable<void(MemberEnd) &&> on_end;
};

// A process's side of membership, the same for PSs and workers: it registers
// until the coordinator answers, holds the session, sends heartbeats, gives up
// a coordinator that is silent for silent_after, and says Bye when the job
// ends. Silence is measured in patient time (core/patient_time.h): a process
// that was itself frozen gives the coordinator a new chance.
//
// A broken connection does not end the life. The member tries for silent_after
// to resume the session over another connection, and sends again all messages
// that were not acknowledged. The life ends if that fails, or if the
// coordinator says that the life is over.
//
// Thread-safe. All work runs on the strand, which must never be busy for long,
// so that heartbeats are timely.
class ClusterMember {
 public:
  // `cluster`, `strand` and `logger` outlive the member's last callback.
  ClusterMember(ClusterMemberOptions options, ClusterService* cluster,
                Executor* strand, Logger* logger);
  ~ClusterMember();

  // Begins to register. Returns at once.
  void Start(ClusterMemberHandlers handlers);

  // Leaves the job in good order, whatever the state of the member; on_end gets
  // OK. A process with work in flight must finish that work before it calls
  // this.
  void Leave();

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace shoal

#endif  // SHOAL_CORE_CLUSTER_MEMBER_H_
