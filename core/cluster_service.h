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

// The first words of a process on a new connection for the session of its life.
struct SessionOpening {
  Life life;
  // True if the process opened a connection for this session before, whether or
  // not it succeeded. The coordinator answers with SessionResumed.
  bool resume = false;
  uint64_t taken = 0;  // messages of the session that the process has taken
  // For a PS, all the marks of its shard. A shard that has lost some of its
  // marks cannot go on.
  MarkTotals marks;
};

// Callbacks of one connection. They run in order on the executor of the
// ClusterService, never inside a call to it.
struct SessionHandler {
  absl::AnyInvocable<void(CoordinatorMessage)> on_message;
  // The connection is over; runs once and last. OK: the coordinator took a Bye.
  // UNAVAILABLE: the connection broke or could not be made, and the process may
  // resume the session over another connection. Any other status ends the life
  // (NOT_FOUND: the coordinator is gone), and the process may register again.
  absl::AnyInvocable<void(absl::Status)> on_end;
};

// One connection of a process to the coordinator. A session is the sequence of
// all messages of one life; one connection after another may carry the session.
// Destroying a ClusterSession ends the connection; on_end may still run once
// after that. Thread-safe.
class ClusterSession {
 public:
  virtual ~ClusterSession() = default;
  // Queues a message. Messages are delivered in order, or the connection ends.
  // Never blocks.
  virtual void Send(ProcessMessage message) = 0;
};

// SEAM: the coordinator as a process sees it. Implementations: Coordinator in
// process (coordinator), the gRPC client (rpc). Thread-safe.
class ClusterService {
 public:
  virtual ~ClusterService() = default;

  // Makes the process known and gives it a life. A life whose session is not
  // open yet, or whose connection is broken, ends when the next request with
  // the same role and index arrives, from the same process or from another one.
  // Errors: FAILED_PRECONDITION (wrong protocol version, wrong job, a flag or a
  // source that differs, a shard whose state is lost; the message names the
  // first difference and says what to do), ALREADY_EXISTS (a live process has
  // this role and index), ABORTED (core/job_loss.h), UNAVAILABLE,
  // UNAUTHENTICATED, DEADLINE_EXCEEDED (the coordinator gave no life, or its
  // reply came too late). `done` as in ParameterService.
  virtual void Register(RegisterRequest request, absl::Duration timeout,
                        Done<RegisterReply> done) = 0;

  // Opens the session of a registered life, or resumes it over a new
  // connection. A failure is reported by on_end: FAILED_PRECONDITION (the life
  // is unknown or over), OUT_OF_RANGE (messages that the process lacks are no
  // longer kept).
  virtual std::unique_ptr<ClusterSession> OpenSession(
      SessionOpening opening, SessionHandler handler) = 0;

  // Saves a checkpoint of the job now. The caller need not be a member of the
  // job. Errors: FAILED_PRECONDITION (another job, or the job saves no
  // checkpoints or is ending), the reason for which the checkpoint failed, and
  // the errors of any call. `done` as in ParameterService.
  virtual void SaveCheckpoint(SaveCheckpointRequest request,
                              absl::Duration timeout,
                              Done<SavedCheckpoint> done) = 0;
};

}  // namespace shoal

#endif  // SHOAL_CORE_CLUSTER_SERVICE_H_
