#ifndef SHOAL_COORDINATOR_COORDINATOR_STATE_H_
#define SHOAL_COORDINATOR_COORDINATOR_STATE_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/logger.h"
#include "cluster/job_progress.h"
#include "cluster/job_report.h"
#include "cluster/lease_table.h"
#include "cluster/loaded_marks.h"
#include "cluster/membership.h"
#include "coordinator/coordinator_actions.h"
#include "coordinator/coordinator_options.h"
#include "coordinator/evaluation_run.h"
#include "coordinator/job_clock.h"
#include "coordinator/job_phase.h"
#include "coordinator/job_saves.h"
#include "coordinator/lease_desk.h"
#include "coordinator/training_book.h"
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
// it concerns, and what they say becomes actions. Each part is pure and has a
// test of its own: who is there (Membership, LoadedMarks), what is trained
// (TrainingBook), scored (EvaluationRun) and saved (JobSaves), who is given a
// lease (LeaseDesk), what time it is (JobClock), and the job in figures
// (JobProgress).
//
// Where an evaluation is due between two epochs, the job goes from training to
// evaluating and back: no piece of a later epoch is leased before every batch
// of the earlier ones has all its marks and every evaluation piece its scores.
// So an evaluation sees the weights of exactly so many epochs, and nothing
// changes them while it lasts.
//
// A failure goes straight to ending; the first one is the job's status and
// names its process. Failures are: a PS that ends, is silent or breaks the
// protocol once training has begun (its state is lost; before, another process
// may take its place until the start deadline), a mark under a lease that was
// never given, a process's own Failure, data that changed or is bad beyond
// max_bad_rows, a batch that is torn, a piece that no live worker can read, and
// a wait whose deadline passed. A worker that dies is none: its life is over,
// its leases return, and it may register again.
//
// A connection that breaks is no death. The life is suspended: what is sent to
// it waits (session_table.h), a worker's pieces may be copied to others at
// once, and the process has silent_after to resume its session. Its life ends
// at once where another process registers in its place, or where the address
// of a PS refuses connections.
//
// Deadlines go by a patient time (job_clock.h), in which the span between two
// events counts as one heartbeat interval at most: a coordinator that was
// itself frozen takes no process for dead. Thread-compatible.
class CoordinatorState {
 public:
  CoordinatorState(CoordinatorOptions options, absl::Time now);

  // Errors: those of Membership; FAILED_PRECONDITION once the job is over. Call
  // Tick for what else it leads to.
  absl::StatusOr<RegisterReply> Register(const RegisterRequest& request,
                                         absl::Time now);
  // `session` is the caller's name for it: not 0, never used again.
  CoordinatorActions OpenSession(uint64_t session, Life life, absl::Time now);
  CoordinatorActions OnMessage(uint64_t session, ProcessMessage message,
                               absl::Time now);
  // The session of a life whose connection broke goes on over another one; call
  // Tick for what else that leads to. Errors: NOT_FOUND (the life never opened
  // a session: OpenSession does it), FAILED_PRECONDITION (the life is over, or
  // its shard's state is lost).
  absl::StatusOr<uint64_t> ResumeSession(const SessionOpening& opening,
                                         absl::Time now);
  // The transport lost the connection: the life is suspended.
  CoordinatorActions OnConnectionLost(uint64_t session,
                                      const absl::Status& status,
                                      absl::Time now);
  // What became of a ProbeAction.
  CoordinatorActions OnProbed(uint64_t session, bool refused, absl::Time now);
  // The session cannot go on: the life is over.
  CoordinatorActions OnSessionEnd(uint64_t session, const absl::Status& status,
                                  absl::Time now);
  // To be called a few times every heartbeat interval.
  CoordinatorActions Tick(absl::Time now);
  CoordinatorActions Stop(const absl::Status& reason, absl::Time now);
  // What became of a ScoreAction and of a WritePredictionsAction of so many
  // scores.
  CoordinatorActions OnScored(const EvalReport& figures, absl::Time now);
  CoordinatorActions OnPredictionsWritten(uint64_t scores, bool last,
                                          const absl::Status& status,
                                          absl::Time now);

  // Saves a checkpoint soon; `request` names the answer. Errors:
  // FAILED_PRECONDITION (the job saves none, or is over), and why it is void.
  CoordinatorActions RequestSave(uint64_t request, absl::Time now);
  // Saves, if the job does, and then ends it with `reason`. If it cannot be
  // saved, the job's status says so and has another code.
  CoordinatorActions SaveAndStop(const absl::Status& reason, absl::Time now);
  // Of a CommitAction: the manifest's text, or why it is not there.
  CoordinatorActions OnCommitted(uint64_t number,
                                 absl::StatusOr<ManifestText> manifest,
                                 absl::Time now);
  // What became of a ContinueAction.
  CoordinatorActions Continue(absl::Time now);

  bool finished() const { return phase_ == JobPhase::kFinished; }
  JobReport Report(absl::Time now) const;

 private:
  // ---- Events (coordinator_state.cc)
  CoordinatorActions TakeActions();
  void Perform(CoordinatorActions actions);
  void Log(LogLevel level, std::string line);
  // Looks at the ports of PSs whose connection is broken.
  void Probe();
  void Send(const Member& member, CoordinatorMessage message);
  // The member's life is over. `how` completes "worker 1 …".
  void Lose(const Member& member, const absl::Status& why,
            const std::string& how);
  void Forget(const Member& member, const absl::Status& why);

  // ---- One handler a message (coordinator_state_messages.cc). Errors: the
  // process broke the protocol (INVALID_ARGUMENT, RESOURCE_EXHAUSTED).
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
  // coordinator_state_save.cc
  absl::Status On(const Member& from, Held& message);
  absl::Status On(const Member& from, ShardWritten& message);
  absl::Status On(const Member& from, ShardSaved& message);
  absl::Status On(const Member& from, StopRequest& message);
  // coordinator_state_resume.cc
  absl::Status On(const Member& from, ShardLoaded& message);
  absl::Status On(const Member& from, MarkRuns& message);
  absl::Status On(const Member& from, ManifestRequest& message);
  // INVALID_ARGUMENT unless `from` has the role that sends such messages.
  static absl::Status OnlyFrom(Role role, const Member& from, const char* what);
  // Fails the job with `status` unless it is the sender's fault alone.
  absl::Status FailUnlessInvalid(const Member& from,
                                 const absl::Status& status);
  // The PS `from` has a mark of a push that no process of this job made;
  // `which` completes "batch (0,1,2)".
  void EndByStrayPush(const Member& from, const Mark& mark,
                      const std::string& which);
  LeaseTable& leases();  // of the present phase

  // ---- Phases (coordinator_state_phases.cc)
  void Step();  // as far as it goes
  void StartTraining();
  // The rest of StartTraining, when what a checkpoint has is restored.
  void BeginTraining();
  void StartReporting();
  // `first` as JobReport's. `stopped`: too, though `status` is not CANCELLED.
  void End(absl::Status status, std::string first = "", bool stopped = false);
  void GrantLeases();
  void Grant(const Member& worker, const LeaseTable::Held& held);
  bool AllPsOpen() const;
  ClusterView View() const;
  void SendViews();  // to everybody who listens

  // ---- Checkpoints (coordinator_state_save.cc)
  JobSaves::View SavesView();
  void Perform(SaveEffects effects);
  // Whether training may be taken for done: its end is saved, or not wanted.
  bool SavedAtEnd();

  // ---- Going on from a checkpoint (coordinator_state_resume.cc)
  bool GoesOn() const {
    return options_.checkpoints.resume != nullptr &&
           options_.checkpoints.resume_training;
  }
  void AskForMarks();
  // Brings the book to where the checkpoint left it, a part an event; then
  // training begins.
  void StartRestoring();
  void ContinueRestoring();
  void OnRestored();

  // ---- Evaluation (coordinator_state_evaluation.cc)
  void PlanEvaluation();
  void StartEvaluating();
  // Goes on once every piece has its scores.
  void ContinueEvaluating();

  // coordinator_state_report.cc
  double FractionDone() const;
  uint64_t BadRows() const;
  std::string FirstBadRow() const;

  const CoordinatorOptions options_;
  JobPhase phase_ = JobPhase::kGathering;
  absl::Status status_;  // of the job
  std::string first_;    // as in JobReport, and `stopped`
  bool stopped_ = false;
  CoordinatorActions actions_;

  JobClock clock_;
  Membership membership_;
  JobProgress progress_;
  TrainingBook book_;
  LeaseDesk desk_;
  std::string last_lease_failure_;

  EvaluationRun evaluation_;

  JobSaves saves_;
  LoadedMarks loaded_;
  bool continues_ = false;  // a ContinueAction is out
};

}  // namespace shoal

#endif  // SHOAL_COORDINATOR_COORDINATOR_STATE_H_
