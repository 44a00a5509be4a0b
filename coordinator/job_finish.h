#ifndef SHOAL_COORDINATOR_JOB_FINISH_H_
#define SHOAL_COORDINATOR_JOB_FINISH_H_

#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "cluster/job_report.h"
#include "cluster/ledger.h"
#include "cluster/membership.h"
#include "coordinator/job_effects.h"
#include "coordinator/job_phase.h"
#include "core/session_messages.h"

namespace shoal {

// The end of a job: the shards' last reports, the outcome, and what the
// processes are told. Pure logic.
//
//   reporting --every shard's report: Verdict--> decided
//   any phase --a failure or a stop--> decided
//   decided --Tell--> ending --every Bye, or NoBye after the linger--> finished
//
// The first outcome is the job's, and a failure names its process. Failures
// are: a PS that ends, is silent or breaks the protocol once training has begun
// (its state is lost; before that, another process may take its place until the
// start deadline), a mark under a lease that was never given, a process's own
// Failure, data that changed or is bad beyond max_bad_rows, a batch that is
// torn, a piece that no live worker can read, and a wait whose deadline passed.
// The death of a worker is no failure: its work is given to other workers, and
// it may register again. The end of a PS or of a rank, and a job without any
// worker for too long, are losses (JobOutcome::lost). Thread-compatible.
class JobFinish {
 public:
  // Everything is trained and scored: asks every shard for its last report.
  static CoordinatorActions AskReports(const Membership& membership);
  // The outcome of a job whose PSs have all reported. `saved` is the status
  // of the checkpoint of the end. The checks are those of CheckCanaries and of
  // CheckReplicas.
  static JobOutcome Verdict(absl::Span<const PsReport> members,
                            const LedgerTotals& totals,
                            const absl::Status& saved);

  // The process says that it failed. A worker's failure once everything is
  // trained and scored ends nothing: that worker was computing a copy. `ring`:
  // the workers are a ring, where UNAVAILABLE says that this worker lacks
  // another rank, which the message names (core/collective.h): a loss.
  static JobEffects OnFailure(const Member& from, const Failure& failure,
                              JobPhase phase, bool ring = false);
  // The process has said Bye. A PS that leaves before the end ends the job, as
  // does a worker that the others need (IsRankLoss in member_loss.h).
  static JobEffects OnBye(const Member& from, JobPhase phase,
                          bool others_need_it = false);
  // The owner was asked to stop the job; `process` is as JobReport::first. An
  // OK `reason` means that there is no particular one.
  static JobOutcome OnStop(const absl::Status& reason, std::string process);

  // Decides the job's outcome, and gives its status the code that LostProcess
  // (core/job_loss.h) asks for: UNAVAILABLE if the job lost a process,
  // and ABORTED in place of any other UNAVAILABLE. REQUIRES: not decided yet.
  void Decide(JobOutcome outcome);
  // Tells every process that the job is over. REQUIRES: decided.
  CoordinatorActions Tell(const Membership& membership,
                          const std::string& summary) const;
  // The message to a process that opens a session now. Tell sends it to every
  // process.
  JobEnd Message(const std::string& summary) const;
  // The error that says why no process can register now: ABORTED if the job
  // lost a process (RefusedByLostJob), otherwise FAILED_PRECONDITION.
  absl::Status Refusal() const;
  // The error with which a session ends whose process sent no Bye within
  // `linger`.
  static absl::Status NoBye(const Member& member, absl::Duration linger);

  // Over, finished, status, first, stopped and diverged.
  void Fill(JobPhase phase, JobReport* report) const;

 private:
  JobOutcome outcome_;
};

}  // namespace shoal

#endif  // SHOAL_COORDINATOR_JOB_FINISH_H_
