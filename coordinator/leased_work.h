#ifndef SHOAL_COORDINATOR_LEASED_WORK_H_
#define SHOAL_COORDINATOR_LEASED_WORK_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "cluster/job_progress.h"
#include "cluster/job_report.h"
#include "cluster/lane_table.h"
#include "cluster/membership.h"
#include "cluster/piece_facts.h"
#include "cluster/piece_leases.h"
#include "coordinator/coordinator_options.h"
#include "coordinator/divergence_watch.h"
#include "coordinator/evaluation_run.h"
#include "coordinator/job_effects.h"
#include "coordinator/job_phase.h"
#include "coordinator/job_pieces.h"
#include "coordinator/lease_desk.h"
#include "coordinator/training_book.h"
#include "core/ids.h"
#include "core/lease.h"
#include "core/session_messages.h"

namespace shoal {

// The work of a job: its pieces, leased to workers, who train them, and score
// them after some epochs or at the end. Pure logic over four parts: what is
// trained (TrainingBook), whether training diverged (DivergenceWatch), what is
// scored (EvaluationRun) and which worker waits for a lease (LeaseDesk).
//
//   no pieces --SetPieces, BeginTraining--> training
//   training --Evaluate, which is due--> evaluating, or reporting if there is
//     nothing to score
//   evaluating --every piece scored, epochs are left: ContinueEvaluating-->
//     training
//   evaluating --the last figures, or the last predictions written-->
//     reporting
//
// No piece of a later epoch is leased before every batch of the earlier epochs
// has all its marks and every evaluation piece its scores. So an evaluation
// sees the weights of a whole number of epochs, and nothing changes the weights
// while workers score. Its figures may be worked out while the job trains
// again.
//
// The phase is the owner's: it comes in with the view, and goes out in
// JobEffects::phase. Thread-compatible.
class LeasedWork {
 public:
  // The job as it is now.
  struct View {
    const Membership& membership;
    JobPhase phase;
    absl::Time now;         // patient time, as all deadlines
    absl::Time clock;       // for people and rates
    JobProgress& progress;  // learns how much was trained, and when
  };

  // No pieces.
  explicit LeasedWork(const CoordinatorOptions& options) : options_(options) {}

  const TrainingBook& book() const { return book_; }
  TrainingBook& book() { return book_; }
  LeaseDesk& desk() { return desk_; }
  // The pieces that are trained or scored in this phase, and their leases.
  const PieceFacts& facts(JobPhase phase) const;
  const PieceLeases& leases(JobPhase phase) const;
  // "worker 1 cannot read …": the newest lease that failed; empty: none.
  const std::string& last_failure() const { return last_failure_; }

  // ---- Phases

  // With `ranks` the pieces to train are leased by lanes (LaneTable).
  void SetPieces(JobPieces pieces, std::vector<LaneRank> ranks = {});
  // The pieces are set, and a checkpoint's part of them is restored.
  JobEffects BeginTraining(const View& view);

  // INVALID_ARGUMENT ends the job that has no row to train on.
  JobEffects CheckRows() const;
  // Everything is trained: the job ends if training diverged. To be called
  // before the checkpoint of the end is saved.
  JobEffects CheckEndOfTraining() const;
  // Every batch has all marks.
  bool trained() const { return book_.complete(); }
  // False while training looks as if it diverges (DivergenceWatch::Sound).
  bool sound() const { return !options_.watch_divergence || watch_.Sound(); }
  // The epochs are trained after which the next evaluation comes, and the
  // figures of the one before are there: figures of two at a time would need
  // twice the memory. Lanes have ended before: their ranks have no lease.
  bool EvaluationDue() const {
    return !evaluation_.working_out() &&
           book_.CompleteEpochs() >= evaluation_.due_after() &&
           book_.open_lanes().empty();
  }
  // Begins the evaluation that is due. REQUIRES: EvaluationDue(), in kTraining.
  JobEffects Evaluate(const View& view);
  // Trains again once every piece has its scores. `resumed_step`: the step of
  // the weights, if the job trains nothing.
  JobEffects ContinueEvaluating(uint64_t resumed_step);

  // Deals batches to lanes, if the job has lanes and all have ended. `settled`
  // is as for LaneTable::NeedsDeal. To be called before Grant. The job ends if
  // the batches cannot be dealt.
  JobEffects Deal(bool settled);
  // Gives out the leases that waiting workers can have now.
  CoordinatorActions Grant(const View& view);
  // No lease is given out any more.
  void StopLeasing() { desk_.Clear(); }

  // ---- Workers

  // Time has passed: leases may have run out.
  void Tick(const View& view);
  void Renew(Life worker, absl::Time now);
  // The worker's connection broke: its pieces may be leased to others too.
  void Suspend(Life worker);
  // The worker has trained this much so far. The job ends if training diverged.
  JobEffects OnProgress(Life worker, const TrainProgress& progress,
                        JobPhase phase);
  // The worker's life is over.
  void End(Life worker);
  // The ranks of the lanes change: every lease of training and of evaluation is
  // over, and all requests for leases are forgotten. Scores that have come
  // stay. REQUIRES: the pieces were set with ranks.
  void Regroup(std::vector<LaneRank> ranks);
  // A replica is lost (TrainingBook::RemoveMember).
  void RemoveMember(int member) { book_.RemoveMember(member); }
  // Training stood still and goes on: no lease is late for that.
  void Release(absl::Time now);

  // ---- Messages. Errors: INVALID_ARGUMENT, RESOURCE_EXHAUSTED (the process
  // broke the protocol). Other errors end the job (JobEffects::end).

  absl::Status OnRequest(const Member& from, JobPhase phase);
  absl::StatusOr<JobEffects> OnReport(const Member& from,
                                      const PieceReport& report,
                                      const View& view);
  JobEffects OnDone(const Member& from, const LeaseDone& done,
                    const View& view);
  // The job ends if no other worker can read the piece either.
  JobEffects OnFailed(const Member& from, const LeaseFailed& failed,
                      const View& view);
  // The job ends if training diverged.
  // A mark under a lease that was never given, or of a batch that the job does
  // not have, ends the job: a process outside the job pushes to its servers.
  absl::StatusOr<JobEffects> OnMarks(const Member& from, const MarkDelta& delta,
                                     const View& view);
  absl::StatusOr<JobEffects> OnScores(const Member& from, EvalResult result,
                                      const View& view);

  // ---- Answers to actions

  // The answer to a ScoreAction.
  JobEffects OnScored(const EvalReport& figures, JobPhase phase);
  // The answer to a WritePredictionsAction with `scores` scores.
  JobEffects OnPredictionsWritten(uint64_t scores, bool last,
                                  const absl::Status& status, JobPhase phase);

  // ---- JobReport: the data and the ledger; then the scores, by worker, once
  // the workers are in the report.
  void FillTrained(JobPhase phase, JobReport* report) const;
  void FillScored(JobReport* report) const { evaluation_.Fill(report); }

 private:
  PieceLeases& Table(JobPhase phase);  // leases, to be changed
  JobEffects EndIfDiverged(const std::optional<Divergence>& divergence) const;
  void PlanEvaluation(bool or_now);
  Lease LeaseFor(const HeldLease& held, const View& view) const;
  uint64_t BadRows() const;
  // The first bad rows, of training and evaluation data.
  std::vector<std::string> NamedBadRows() const;
  absl::Status TooManyBadRows() const;
  double FractionDone(JobPhase phase) const;
  // Warns once if many batches are short, as soon as some pieces were read.
  void WarnOfShortBatches(CoordinatorActions* actions);

  const CoordinatorOptions options_;
  TrainingBook book_;
  DivergenceWatch watch_;
  EvaluationRun evaluation_;
  LeaseDesk desk_;
  std::string last_failure_;
  bool short_told_ = false;  // WarnOfShortBatches has judged
};

}  // namespace shoal

#endif  // SHOAL_COORDINATOR_LEASED_WORK_H_
