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
  // After a life is over: register again for a new one (a worker, which keeps
  // nothing), or end with an error (a PS, whose state the job has given up).
  bool rejoin = true;
  // How long to try to reach the coordinator: at first, and after a life was
  // over.
  absl::Duration start_deadline = absl::Seconds(120);
  absl::Duration reconnect_deadline = absl::Seconds(10);
  // How long to wait for the end of the session after the last word.
  absl::Duration shutdown_deadline = absl::Seconds(5);
};

// How a process's part in a job ended: OK after the job ended well, or after
// Leave; otherwise why not. `summary` is what the coordinator said for people.
struct MemberEnd {
  absl::Status status;
  std::string summary;
  bool job_over = false;  // the coordinator said so: `status` is the job's
};

// What a process does with its membership. All run on the member's strand.
struct ClusterMemberHandlers {
  // A life begins. The session is for sending; it ends with the life, and not
  // with its connection.
  absl::AnyInvocable<void(const RegisterReply&,
                          std::shared_ptr<ClusterSession>)>
      on_joined;
  // Every message of the present life but JobEnd, which the member answers, and
  // HeartbeatAck, which becomes on_acknowledged.
  absl::AnyInvocable<void(CoordinatorMessage)> on_message;
  // The coordinator has acknowledged a word that this process sent at `sent`:
  // the registration, right after on_joined, or a heartbeat. A lease with the
  // coordinator runs from then. May be null.
  absl::AnyInvocable<void(absl::Time sent)> on_acknowledged;
  // The life that on_joined began is over; another may follow.
  absl::AnyInvocable<void()> on_left;
  // The next Heartbeat; called every heartbeat interval of a life.
  absl::AnyInvocable<Heartbeat()> heartbeat;
  // SessionOpening::marks; called when a session is resumed. May be null: the
  // process has no shard.
  absl::AnyInvocable<MarkTotals()> marks;
  // Once, and last.
  absl::AnyInvocable<void(MemberEnd) &&> on_end;
};

// A process's side of membership, the same for PSs and workers: registers until
// it is heard, holds the session, sends heartbeats, takes a coordinator that is
// silent for silent_after for lost, and says Bye when the job ends. Silence is
// measured in patient time (core/patient_time.h): a process that was itself
// frozen gives the coordinator a new chance.
//
// A connection that breaks is no end: the member tries for silent_after to
// resume the session over another one, and what was not acknowledged is sent
// again. Only then, or when the coordinator says that the life is over, the
// life ends.
//
// Thread-safe; works on its strand, which must never be busy for long, so that
// heartbeats are timely.
class ClusterMember {
 public:
  // `cluster`, `strand` and `logger` outlive the member's last callback.
  ClusterMember(ClusterMemberOptions options, ClusterService* cluster,
                Executor* strand, Logger* logger);
  ~ClusterMember();

  // Begins; returns at once.
  void Start(ClusterMemberHandlers handlers);

  // Leaves the job in good order, whatever state it is in; on_end says OK. A
  // process that has work in flight finishes it first.
  void Leave();

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace shoal

#endif  // SHOAL_CORE_CLUSTER_MEMBER_H_
