#include "coordinator/job_finish.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status_macros.h"
#include "cluster/canary_check.h"
#include "cluster/replica_check.h"
#include "core/job_loss.h"

namespace shoal {

CoordinatorActions JobFinish::AskReports(const Membership& membership) {
  CoordinatorActions actions;
  for (const Member& ps : membership.Open(Role::kPs)) {
    Send(ps, ReportShard{}, &actions);
  }
  return actions;
}

JobOutcome JobFinish::Verdict(absl::Span<const PsReport> members,
                              const LedgerTotals& totals,
                              const absl::Status& saved) {
  absl::Status status =
      CheckCanaries(members, totals.batches - totals.rejected_batches);
  status.Update(CheckReplicas(members));
  status.Update(saved);
  return {std::move(status)};
}

JobEffects JobFinish::OnFailure(const Member& from, const Failure& failure,
                                JobPhase phase, bool ring) {
  const absl::Status status =
      failure.status.ok() ? absl::UnknownError("it failed and did not say why")
                          : failure.status;
  if (from.role == Role::kWorker && phase >= JobPhase::kReporting) {
    JobEffects effects;
    Log(LogLevel::kInfo, absl::StrCat(from.Name(), ": ", status.message()),
        &effects.actions);
    return effects;
  }
  if (ring && from.role == Role::kWorker && absl::IsUnavailable(status)) {
    // The message names the lost rank; which of the others told it first says
    // nothing.
    return EndWithLoss(status, "");
  }
  // The message of a process that was stopped names the process already.
  return EndWith(
      absl::IsCancelled(status) ? status : Annotate(status, from.Name()),
      from.Process());
}

JobEffects JobFinish::OnBye(const Member& from, JobPhase phase,
                            bool others_need_it) {
  JobEffects effects;
  if (phase >= JobPhase::kEnding) return effects;
  if (from.role == Role::kPs || others_need_it) {
    return EndWith(absl::CancelledError(absl::StrCat(
                       from.Name(), " left before the job was over")),
                   from.Process());
  }
  Log(LogLevel::kInfo,
      absl::StrCat(from.Name(), " left; its work is given to other workers"),
      &effects.actions);
  return effects;
}

JobOutcome JobFinish::OnStop(const absl::Status& reason, std::string process) {
  return {reason.ok() ? absl::CancelledError("the job was stopped") : reason,
          std::move(process)};
}

void JobFinish::Decide(JobOutcome outcome) {
  // A job that went well cannot be told from one that is not decided.
  SHOAL_DCHECK(outcome_.status.ok() && outcome_.first.empty());
  outcome_ = std::move(outcome);
  // The code tells every process whether the job has lost one (LostProcess).
  if (outcome_.lost != LostProcess(outcome_.status)) {
    const absl::StatusCode code = outcome_.lost
                                      ? absl::StatusCode::kUnavailable
                                      : absl::StatusCode::kAborted;
    outcome_.status = absl::Status(code, outcome_.status.message());
  }
  outcome_.stopped = outcome_.stopped || absl::IsCancelled(outcome_.status);
}

JobEnd JobFinish::Message(const std::string& summary) const {
  return {outcome_.status, summary};
}

CoordinatorActions JobFinish::Tell(const Membership& membership,
                                   const std::string& summary) const {
  CoordinatorActions actions;
  for (const Member& member : membership.members()) {
    if (member.open()) Send(member, Message(summary), &actions);
  }
  return actions;
}

absl::Status JobFinish::Refusal() const {
  const std::string why =
      absl::StrCat("the job is over", outcome_.status.ok() ? "" : ": ",
                   outcome_.status.message());
  return outcome_.lost ? absl::AbortedError(why)
                       : absl::FailedPreconditionError(why);
}

absl::Status JobFinish::NoBye(const Member& member, absl::Duration linger) {
  return absl::DeadlineExceededError(
      absl::StrCat(member.Name(), " did not leave within ",
                   absl::FormatDuration(linger), " of the job's end"));
}

void JobFinish::Fill(JobPhase phase, JobReport* report) const {
  report->over = phase >= JobPhase::kEnding;
  report->finished = phase == JobPhase::kFinished;
  report->status = outcome_.status;
  report->first = outcome_.first;
  report->stopped = outcome_.stopped;
  report->diverged = outcome_.diverged_after.has_value();
}

}  // namespace shoal
