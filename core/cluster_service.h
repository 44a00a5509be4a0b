#ifndef SHOAL_CORE_CLUSTER_SERVICE_H_
#define SHOAL_CORE_CLUSTER_SERVICE_H_

#include <cstdint>
#include <memory>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "core/done.h"
#include "core/ids.h"
#include "core/mark_run.h"
#include "core/registration.h"
#include "core/save_messages.h"
#include "core/session_messages.h"

namespace shoal {

// What a process says when it opens a connection for the session of its life.
struct SessionOpening {
  Life life;
  // The session had a connection before, or tried to: it goes on. Answered by
  // SessionResumed.
  bool resume = false;
  uint64_t taken = 0;  // messages of the session that the process has taken
  // Of a PS: all the marks that its shard has. A shard that has lost some of
  // them cannot go on.
  MarkTotals marks;
};

// Callbacks of one connection, run in order on the executor of the
// ClusterService and never inside a call of ours.
struct SessionHandler {
  absl::AnyInvocable<void(CoordinatorMessage)> on_message;
  // The connection is over; runs once and last. OK after a Bye that the
  // coordinator took. UNAVAILABLE: the connection broke, or could not be made;
  // the process may resume the session over another one. Anything else ends the
  // life (NOT_FOUND: the coordinator is gone): the process may register again.
  absl::AnyInvocable<void(absl::Status)> on_end;
};

// One connection of a process to the coordinator. A session is all that is said
// in one life, over one connection after the other. Thread-safe. Destroying it
// ends it; on_end may still run once after that.
class ClusterSession {
 public:
  virtual ~ClusterSession() = default;
  // Queued and delivered in order, or the connection ends. Never blocks.
  virtual void Send(ProcessMessage message) = 0;
};

// SEAM: the coordinator as a process sees it. Implementations: Coordinator in
// process (coordinator), the gRPC client (rpc). Thread-safe.
class ClusterService {
 public:
  virtual ~ClusterService() = default;

  // Makes the process known and gives it a life. A life whose session is not
  // open yet, or whose connection is broken, ends with the next request of its
  // role and index, which is a later one of its process or another process's.
  // Errors: FAILED_PRECONDITION (protocol version, job, the first flag that
  // differs, sources that differ, a shard whose state is lost; the message says
  // which and what to do), ALREADY_EXISTS (a live process has this role and
  // index), UNAVAILABLE, UNAUTHENTICATED, DEADLINE_EXCEEDED (no life was given,
  // or its answer came too late). `done` as in ParameterService.
  virtual void Register(RegisterRequest request, absl::Duration timeout,
                        Done<RegisterReply> done) = 0;

  // Opens the session of a registered life, or resumes it over a new
  // connection. Failure comes by on_end: FAILED_PRECONDITION (the life is not
  // known, or over), OUT_OF_RANGE (what was not acknowledged is not kept any
  // more).
  virtual std::unique_ptr<ClusterSession> OpenSession(
      SessionOpening opening, SessionHandler handler) = 0;

  // Saves a checkpoint of the job now, for somebody who is no member of it.
  // Errors: FAILED_PRECONDITION (other job, one that saves none or is ending),
  // why the checkpoint is void, and those of a call. `done` as in
  // ParameterService.
  virtual void SaveCheckpoint(SaveCheckpointRequest request,
                              absl::Duration timeout,
                              Done<SavedCheckpoint> done) = 0;
};

}  // namespace shoal

#endif  // SHOAL_CORE_CLUSTER_SERVICE_H_
