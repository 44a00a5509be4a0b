#ifndef SHOAL_COORDINATOR_JOB_EFFECTS_H_
#define SHOAL_COORDINATOR_JOB_EFFECTS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/logger.h"
#include "cluster/membership.h"
#include "coordinator/coordinator_actions.h"
#include "coordinator/job_phase.h"

namespace shoal {

// The end of a job, in the words of JobReport.
struct JobOutcome {
  absl::Status status;  // OK, or the first failure, which names its process
  // The process that failed first or that was asked to stop, as in "ps 1";
  // empty: no single process.
  std::string first;
  bool stopped = false;  // the job ends because a process was asked to stop
  // The job ends because it lost a process: the same job may go on from its
  // newest checkpoint.
  bool lost = false;
  // If training diverged: the job's step before the first bad batch
  // (Divergence::after).
  std::optional<uint64_t> diverged_after = std::nullopt;
};

// The effects that a part of the coordinator asks for after an event. The
// fields are in the order in which CoordinatorState performs them.
//
//   JobEffects effects = work.OnScored(figures, phase);
//   Perform(std::move(effects));
struct JobEffects {
  CoordinatorActions actions;
  // There is a new mark, a piece was read or a row was scored.
  bool progress = false;
  // Training stood still for a checkpoint and goes on: this counts as progress
  // of every lease.
  bool released = false;
  std::optional<JobPhase> phase;  // the job enters this phase
  std::optional<JobOutcome> end;  // the job ends
};

void Log(LogLevel level, std::string line, CoordinatorActions* actions);
// REQUIRES: member.open().
void Send(const Member& member, CoordinatorMessage message,
          CoordinatorActions* actions);

// The job ends with `status`.
JobEffects EndWith(absl::Status status, std::string first = "");

// The job ends with `status` because it lost `process`.
JobEffects EndWithLoss(absl::Status status, std::string process);

// Returns the effects of an error in a message of `from`. INVALID_ARGUMENT is
// returned: the process broke the protocol, which ends that process alone. Any
// other error ends the job and names the process. OK has no effects.
absl::StatusOr<JobEffects> EndUnlessInvalid(const Member& from,
                                            const absl::Status& status);

}  // namespace shoal

#endif  // SHOAL_COORDINATOR_JOB_EFFECTS_H_
