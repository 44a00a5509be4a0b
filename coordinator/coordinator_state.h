#ifndef SHOAL_COORDINATOR_COORDINATOR_STATE_H_
#define SHOAL_COORDINATOR_COORDINATOR_STATE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "cluster/job_progress.h"
#include "cluster/job_report.h"
#include "cluster/membership.h"
#include "coordinator/coordinator_actions.h"
#include "coordinator/coordinator_options.h"
#include "coordinator/job_clock.h"
#include "coordinator/job_effects.h"
#include "coordinator/job_finish.h"
#include "coordinator/job_generations.h"
#include "coordinator/job_phase.h"
#include "coordinator/job_saves.h"
#include "coordinator/job_start.h"
#include "coordinator/job_steps.h"
#include "coordinator/leased_work.h"
#include "coordinator/member_loss.h"
#include "coordinator/rank_watch.h"
#include "coordinator/sent_files.h"
#include "coordinator/worker_pace.h"
#include "core/cluster_service.h"

namespace shoal {

// The whole protocol of a job as pure logic: (state, event, now) → actions. No
// threads, sockets or clocks, so that the simulator can run it.
//
//   gathering --all PSs, and the workers or their grace--> training, or
//     restoring --the checkpoint's pieces and marks are read--> training
//   training --every batch has all marks--> evaluating --every piece scored-->
//   reporting --every shard's report--> ending --Byes or linger--> finished
//
// This class owns the phases and the routing: an event goes to the parts that
// it concerns, and their effects (JobEffects) become phases and actions. Each
// part is pure and has a test of its own:
//
//   Membership   which processes are in the job; member_loss.h says how they
//                are lost, and what that means
//   JobStart     gathering and restoring: which PSs have their state
//   LeasedWork   training and evaluating: what is trained and scored, and which
//                worker is given a lease
//   WorkerPace   how far ahead of the slowest worker the others may go
//   SentFiles    the checkpoint's files, for processes that lack them
//   JobSaves     the checkpoints
//   JobSteps     the steps that PSs apply as one, in a mode that has such steps
//   JobGenerations  the ranks of a synchronous mode, and how they change
//   RankWatch    where these ranks stand
//   JobFinish    reporting and ending: the outcome, and what processes are told
//   JobClock     the time, and what the job has waited for too long
//   JobProgress  the job in figures
//
// If an evaluation is due between two epochs, the job goes from training to
// evaluating and back. A failure goes straight to ending, from any phase.
// Thread-compatible.
class CoordinatorState {
 public:
  CoordinatorState(CoordinatorOptions options, absl::Time now);

  // Gives a process a life. Errors: those of Membership; that of
  // JobFinish::Refusal once the job is over. Call Tick afterwards for the
  // actions that this leads to.
  absl::StatusOr<RegisterReply> Register(const RegisterRequest& request,
                                         absl::Time now);
  // Opens the session of a life. `session` is the caller's name for the
  // session: not 0, and never used again.
  CoordinatorActions OpenSession(uint64_t session, Life life, absl::Time now);
  CoordinatorActions OnMessage(uint64_t session, ProcessMessage message,
                               absl::Time now);
  // The session of a life goes on over another connection. Returns the session.
  // Call Tick afterwards for the actions that this leads to. Errors: NOT_FOUND
  // (the life never opened a session: call OpenSession), FAILED_PRECONDITION
  // (the life is over, or its shard's state is lost).
  absl::StatusOr<uint64_t> ResumeSession(const SessionOpening& opening,
                                         absl::Time now);
  // The transport lost the connection: the life is suspended.
  CoordinatorActions OnConnectionLost(uint64_t session,
                                      const absl::Status& status,
                                      absl::Time now);
  // The answer to a ProbeAction.
  CoordinatorActions OnProbed(uint64_t session, bool refused, absl::Time now);
  // The session cannot go on: the life is over.
  CoordinatorActions OnSessionEnd(uint64_t session, const absl::Status& status,
                                  absl::Time now);
  // To be called a few times every heartbeat interval.
  CoordinatorActions Tick(absl::Time now);
  CoordinatorActions Stop(const absl::Status& reason, absl::Time now);
  // The answers to a ScoreAction and to a WritePredictionsAction with `scores`
  // scores.
  CoordinatorActions OnScored(const EvalReport& figures, absl::Time now);
  CoordinatorActions OnPredictionsWritten(uint64_t scores, bool last,
                                          const absl::Status& status,
                                          absl::Time now);

  // Saves a checkpoint soon; `request` names the answer (SaveReplyAction).
  // Errors in the answer: those of SavePolicy::Request, and why the checkpoint
  // is void.
  CoordinatorActions RequestSave(uint64_t request, absl::Time now);
  // Ends the job with `reason`, after a checkpoint is saved if the job saves
  // any. If it cannot be saved, the job's status says so and has another code.
  CoordinatorActions SaveAndStop(const absl::Status& reason, absl::Time now);
  // The answer to a CommitAction: the manifest's text, or why it is not
  // written.
  CoordinatorActions OnCommitted(uint64_t number,
                                 absl::StatusOr<ManifestText> manifest,
                                 absl::Time now);
  // The answer to a ReadFileAction.
  CoordinatorActions OnFileRead(uint64_t session, FilePart part,
                                absl::Time now);
  // The answer to a ContinueAction.
  CoordinatorActions Continue(absl::Time now);

  bool finished() const { return phase_ == JobPhase::kFinished; }
  JobReport Report(absl::Time now) const;

 private:
  // ---- Effects
  // Performs the effects, takes the steps that the job can take now, and
  // returns the actions for the caller.
  CoordinatorActions TakeActions(JobEffects effects = {});
  void Perform(CoordinatorActions actions);
  void Perform(JobEffects effects);
  // Gives out the leases that workers can have now, unless a save withholds
  // them, after the paces that follow.
  void GrantAtPace();
  // Performs the effects, or returns the error: the process broke the protocol.
  absl::Status Take(absl::StatusOr<JobEffects> effects);
  // The member's life is over.
  void Lose(const MemberLoss& loss);
  // The same in a job that has begun to train in lanes; the process of a rank
  // is lost with all its members.
  void LoseRank(const MemberLoss& loss);
  // No replica of the replicated shard is left, if the job has one.
  bool CopiesLost() const;
  void Forget(const Member& member, const absl::Status& why);
  // Warns if the job has fewer workers than it expects; `what` begins the line.
  void WarnOfMissingWorkers(absl::string_view what);

  // ---- One handler a message (coordinator_state_messages.cc), for a sender
  // that CheckSender allows. Errors: the process broke the protocol
  // (INVALID_ARGUMENT, RESOURCE_EXHAUSTED).
  absl::Status On(const Member& from, Heartbeat& message);
  absl::Status On(const Member& from, LeaseRequest& message);
  absl::Status On(const Member& from, PieceReport& message);
  absl::Status On(const Member& from, LeaseDone& message);
  absl::Status On(const Member& from, LeaseFailed& message);
  absl::Status On(const Member& from, MarkDelta& message);
  absl::Status On(const Member& from, EvalResult& message);
  absl::Status On(const Member& from, ShardReport& message);
  absl::Status On(const Member& from, Failure& message);
  absl::Status On(const Member& from, Bye& message);
  absl::Status On(const Member& from, Held& message);
  absl::Status On(const Member& from, ShardWritten& message);
  absl::Status On(const Member& from, ShardSaved& message);
  absl::Status On(const Member& from, StopRequest& message);
  absl::Status On(const Member& from, ShardLoaded& message);
  absl::Status On(const Member& from, MarkRuns& message);
  absl::Status On(const Member& from, ManifestRequest& message);
  absl::Status On(const Member& from, FileRequest& message);
  absl::Status On(const Member& from, StepsFinished& message);
  absl::Status On(const Member& from, StepParked& message);
  absl::Status On(const Member& from, StepTakenOut& message);
  absl::Status On(const Member& from, GenerationReady& message);
  absl::Status On(const Member& from, ReplicaLevel& message);
  absl::Status On(const Member& from, RingBroken& message);

  // ---- Phases
  void Step();  // goes on as far as the job can
  void StepGenerations();
  // Ends the generation, with all leases and the save under way.
  void ChangeRanks();
  // True if the ranks of the job, if it has ranks, do not change now.
  bool Steady() const { return !generations_ || generations_->steady(); }
  // The open step, or the change of the ranks, and what it waits for; "": none.
  std::string WaitingFor();
  // Warns of ranks that train nothing.
  void WatchRanks();
  // Every PS that is left has reported.
  bool AllReported() const;
  void Enter(JobPhase phase);
  void StartTraining();
  void ContinueRestoring();
  // Begins to save the end of training, if that is due. True once training is
  // done: its end is saved, or is not going to be.
  bool SavedAtEnd();
  void End(JobOutcome outcome);

  JobStart::View StartView() const {
    return {membership_, phase_, generations_ ? generations_->number() : 1};
  }
  LeasedWork::View WorkView();
  JobSaves::View SavesView();
  JobSteps::View StepsView() const;
  JobGenerations::View GenerationsView();

  const CoordinatorOptions options_;
  JobPhase phase_ = JobPhase::kGathering;
  CoordinatorActions actions_;
  uint32_t train_row_bytes_ = 0;  // RegisterRequest's, the largest of all

  JobClock clock_;
  Membership membership_;
  JobProgress progress_;
  JobStart start_;
  LeasedWork work_;
  WorkerPace pace_;
  SentFiles sent_files_;
  JobSaves saves_;
  // From the begin of training on, in jobs that have steps, or ranks.
  std::optional<JobSteps> steps_;
  std::optional<JobGenerations> generations_;
  RankWatch rank_watch_;
  JobFinish finish_;
};

}  // namespace shoal

#endif  // SHOAL_COORDINATOR_COORDINATOR_STATE_H_
