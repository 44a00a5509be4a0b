#include <utility>

#include "base/status_macros.h"
#include "coordinator/coordinator_state.h"

namespace shoal {

// ---- Sessions ---------------------------------------------------------------

absl::Status CoordinatorState::On(const Member& from, Heartbeat& message) {
  progress_.OnHeartbeat(from.role, from.index, message, clock_.clock());
  work_.Renew(from.life, clock_.now());
  if (from.role == Role::kWorker) {
    // Until it is ready, a rank stands in the last ring, with its numbers.
    if (generations_ && generations_->Awaits(from.life)) {
      message.standing.waits_for = -1;
    }
    rank_watch_.OnHeartbeat(from.life, message.standing, clock_.now());
    Perform(work_.OnProgress(from.life, message.progress, phase_));
  }
  Send(from, HeartbeatAck{message.number}, &actions_);
  return absl::OkStatus();
}

absl::Status CoordinatorState::On(const Member& from, Failure& message) {
  return Take(JobFinish::OnFailure(from, message, phase_, options_.ring));
}

absl::Status CoordinatorState::On(const Member& from, Bye& message) {
  progress_.OnUsage(from.role, from.index, message.usage, clock_.clock());
  Forget(from, absl::OkStatus());
  SHOAL_RETURN_IF_ERROR(Take(JobFinish::OnBye(
      from, phase_, IsRankLoss(from, phase_, options_.lanes))));
  if (from.role == Role::kWorker && Leases(phase_)) {
    WarnOfMissingWorkers("the job goes on");
  }
  return absl::OkStatus();
}

absl::Status CoordinatorState::On(const Member& from, StopRequest& message) {
  return Take(saves_.Stop(message.reason, from.Process(), SavesView()));
}

// ---- The start --------------------------------------------------------------

absl::Status CoordinatorState::On(const Member& from, ShardLoaded& message) {
  return Take(start_.OnLoaded(from, message, StartView()));
}

absl::Status CoordinatorState::On(const Member& from, MarkRuns& message) {
  return Take(start_.OnMarks(from, std::move(message), StartView()));
}

absl::Status CoordinatorState::On(const Member& from, FileRequest& message) {
  SHOAL_ASSIGN_OR_RETURN(CoordinatorActions actions,
                         sent_files_.OnRequest(from, std::move(message)));
  Perform(std::move(actions));
  clock_.SeeFetch();
  return absl::OkStatus();
}

// ---- Leases, marks and scores -----------------------------------------------

absl::Status CoordinatorState::On(const Member& from, LeaseRequest&) {
  return work_.OnRequest(from, phase_);
}

absl::Status CoordinatorState::On(const Member& from, PieceReport& message) {
  return Take(work_.OnReport(from, message, WorkView()));
}

absl::Status CoordinatorState::On(const Member& from, LeaseDone& message) {
  saves_.OnLeaseEnd(message.lease, absl::OkStatus());
  Perform(work_.OnDone(from, message, WorkView()));
  return absl::OkStatus();
}

absl::Status CoordinatorState::On(const Member& from, LeaseFailed& message) {
  saves_.OnLeaseEnd(message.lease, message.status);
  return Take(work_.OnFailed(from, message, WorkView()));
}

absl::Status CoordinatorState::On(const Member& from, MarkDelta& message) {
  return Take(work_.OnMarks(from, message, WorkView()));
}

absl::Status CoordinatorState::On(const Member& from, EvalResult& message) {
  return Take(work_.OnScores(from, std::move(message), WorkView()));
}

// ---- Steps ------------------------------------------------------------------

absl::Status CoordinatorState::On(const Member& from, StepsFinished& message) {
  return pace_.OnFinished(from.life, message.steps);
}

absl::Status CoordinatorState::On(const Member& from, StepParked& message) {
  if (!steps_.has_value()) {
    return absl::InvalidArgumentError("this job has no steps");
  }
  return Take(steps_->OnParked(from, message));
}

absl::Status CoordinatorState::On(const Member& from, StepTakenOut& message) {
  if (!steps_.has_value()) {
    return absl::InvalidArgumentError("this job has no steps");
  }
  return Take(steps_->OnTakenOut(from, message));
}

// ---- Checkpoints ------------------------------------------------------------

absl::Status CoordinatorState::On(const Member& from, Held& message) {
  saves_.OnHeld(from, message);
  return absl::OkStatus();
}

absl::Status CoordinatorState::On(const Member& from, ShardWritten& message) {
  saves_.OnWritten(from, message);
  return absl::OkStatus();
}

absl::Status CoordinatorState::On(const Member& from, ShardSaved& message) {
  saves_.OnSaved(from, message);
  return absl::OkStatus();
}

absl::Status CoordinatorState::On(const Member& from,
                                  ManifestRequest& message) {
  Send(from, saves_.Answer(message), &actions_);
  return absl::OkStatus();
}

// ---- The end ----------------------------------------------------------------

absl::Status CoordinatorState::On(const Member& from, ShardReport& message) {
  if (phase_ == JobPhase::kReporting) {
    progress_.OnShardReport(from.index, message.stats);
  }
  return absl::OkStatus();
}

}  // namespace shoal
