#ifndef SHOAL_JOB_JOB_LINK_H_
#define SHOAL_JOB_JOB_LINK_H_

#include <optional>
#include <string>

#include "absl/functional/any_invocable.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/executor.h"
#include "base/file_system.h"
#include "base/logger.h"
#include "base/telemetry.h"
#include "core/cluster_member.h"
#include "core/cluster_service.h"
#include "core/ids.h"
#include "job/process_outcome.h"
#include "job/main_wait.h"

namespace shoal {

// What a link uses of its process. All outlive the link.
struct JobLinkDependencies {
  const Clock* clock = nullptr;
  MainWait* wait = nullptr;
  const FileSystem* files = nullptr;
  Logger* logger = nullptr;
  Telemetry* telemetry = nullptr;
  // Runs the callbacks of the coordinator's network client.
  Executor* control = nullptr;
  // Answers requests that come to the coordinator from this host.
  Executor* completions = nullptr;
  // May wait for the disk: locks directories, writes manifests.
  Executor* disk = nullptr;
};

// A process's link to the coordinator of its job, for a process with a PS:
// Leader (job/leader.h) in the process that holds the coordinator, and Follower
// (job/follower.h) in any other. A process composes its parts with one of them
// and never asks which.
//
//   link = leads ? Leader::Create(…) : Follower::Create(…);
//   // start the server, which serves link->served()
//   link->Begin();
//   // start the parts, whose coordinator is link->cluster()
//   AwaitEnd(…);           // job/await_end.h: OnTurn, Stop, Report, Outcome
//   // end the server
//   link->CloseRequests();
//   // shut the executors down
//   link->Shutdown();
//
// Thread-hostile: use it on the main thread, but for cluster(), served() and
// what these and take_directory() return.
class JobLink {
 public:
  virtual ~JobLink() = default;

  // The coordinator, as the parts of the process call it.
  virtual ClusterService* cluster() = 0;
  // The coordinator that other processes reach through this process; nullptr:
  // it is in another process.
  virtual ClusterService* served() = 0;
  // Locks the model directory for a PS of this process
  // (PsLoopDependencies::take_directory). Null: the link has it locked. Refers
  // to the link.
  virtual absl::AnyInvocable<absl::Status(StartNumber)> take_directory() = 0;

  // From now on other processes may know of the job. Call once. Errors: those
  // of JobReporter::Start.
  virtual absl::Status Begin() = 0;

  // True if the job itself is over, as far as this process has to wait for it.
  virtual bool over() const = 0;
  // Time between two calls of OnTurn.
  virtual absl::Duration pause() const = 0;
  // To be called about every pause(). `part_end` is the end of the process's
  // part, if it has ended.
  virtual void OnTurn(const std::optional<MemberEnd>& part_end) = 0;
  // A signal asks the process to stop: ends the job with `reason`, if it saves
  // after one more checkpoint. A link that cannot do so itself calls
  // `stop_part`, which asks the coordinator in the name of the process's part
  // (PsPart::Stop).
  using StopPart = absl::FunctionRef<void(absl::Status reason,
                                          absl::Duration save_deadline)>;
  virtual void Stop(absl::Status reason, StopPart stop_part) = 0;
  // What to tell before the process ends at once, after it has removed the
  // files that others would take for those of a running job. May be empty.
  virtual std::string QuitAtOnce() = 0;

  // Writes the closing report. `signal`: the signal that asked the process to
  // stop, or 0. Errors: those of JobReporter::End. REQUIRES: over().
  virtual absl::Status Report(int signal) = 0;
  // REQUIRES: over().
  virtual ProcessOutcome Outcome(const MemberEnd& part_end) const = 0;

  // Ends requests of this host to the coordinator. Idempotent.
  virtual void CloseRequests() = 0;
  // Shuts the link's executors down. Call when no other task can come to them
  // but from themselves.
  virtual void Shutdown() = 0;
};

}  // namespace shoal

#endif  // SHOAL_JOB_JOB_LINK_H_
