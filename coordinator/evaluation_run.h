#ifndef SHOAL_COORDINATOR_EVALUATION_RUN_H_
#define SHOAL_COORDINATOR_EVALUATION_RUN_H_

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "cluster/evaluation.h"
#include "cluster/job_report.h"
#include "cluster/lease_table.h"
#include "cluster/piece_facts.h"
#include "cluster/prediction_order.h"
#include "cluster/running_auc.h"
#include "cluster/scored_rows.h"
#include "coordinator/coordinator_actions.h"
#include "coordinator/coordinator_options.h"
#include "core/binary_metrics.h"
#include "core/lease.h"
#include "core/score_metrics.h"
#include "core/session_messages.h"

namespace shoal {

struct EvaluationRunOptions {
  JobTask task = JobTask::kTrain;
  uint32_t batch_size = 1;
  // As in CoordinatorOptions. The last evaluation is made after num_epochs.
  uint32_t num_epochs = 1;
  uint32_t eval_every_epochs = 1;
  uint64_t auc_exact_rows = 0;
  const ScoreMetrics* metrics = &kBinaryMetrics;  // outlives the run
  // Number of pieces of an inference that may be leased while the next piece
  // to be written is not complete, that piece among them.
  uint32_t pieces_ahead = 2;
  // Options of the evaluation pieces' leases. Only `hosts`, `lease_time` and
  // `speculate_after` count; the run sets the other fields.
  LeaseTableOptions leases;
};

// The evaluations of a job, or its one inference: when each is due, the leases
// of its pieces, and the figures or predictions made of the scores. Pure logic.
//
//   an evaluation:  idle --Begin--> scoring --every piece scored, Step-->
//     working out --OnScored--> idle
//   an inference:   idle --Begin--> predicting --every piece scored-->
//     flushing --the last rows written--> idle
//
// The job may train again while an evaluation is worked out (ScoreAction),
// which changes no weight. The next evaluation begins only after OnScored,
// since two would need twice the memory. Thread-compatible.
class EvaluationRun {
 public:
  EvaluationRun() = default;
  EvaluationRun(EvaluationRunOptions options, PieceFacts pieces);

  // True if there is nothing to score.
  bool empty() const { return facts_.size() == 0; }
  const PieceFacts& facts() const { return facts_; }
  LeaseTable& leases() { return leases_; }
  const LeaseTable& leases() const { return leases_; }

  // Sets due_after, when `complete` epochs are complete, to the next multiple
  // of eval_every_epochs, or to the last epoch if that comes first. With
  // `or_now` the next multiple may be `complete` itself.
  void Plan(uint32_t complete, bool or_now);
  // The next evaluation begins when this many epochs are complete and no later
  // epoch has begun.
  uint32_t due_after() const { return due_after_; }
  bool is_last() const { return due_after_ >= options_.num_epochs; }
  // True from a ScoreAction until OnScored.
  bool working_out() const { return state_ == State::kWorkingOut; }

  // Begins an evaluation or the inference. REQUIRES: !empty(), and no
  // evaluation is under way.
  CoordinatorActions Begin();
  // The lease of a piece for a worker, without number and batch size.
  Lease LeaseOf(const LeaseTable::Held& held) const;

  // Takes the report of a worker that has read a piece whole. Returns true if
  // this is the first report on the piece.
  // Errors: those of PieceFacts::Add.
  absl::StatusOr<bool> Learn(const PieceReport& report) {
    return facts_.Add(report);
  }
  // DATA_LOSS: all rows of the piece are scored in the newest evaluation, but
  // another number of rows was read. REQUIRES: facts().known(piece).
  absl::Status CheckCount(uint32_t piece) const;
  // Takes the scores that a worker has sent. Returns true if this is progress:
  // a row is new, or the piece ends. Errors: those of ScoredRows::Known, of
  // Evaluation and of PredictionOrder, and DATA_LOSS (a score is not finite, or
  // the piece has another number of rows).
  absl::StatusOr<bool> Take(EvalResult result, int worker, absl::Time now,
                            CoordinatorActions* actions);
  // If every piece has its scores, adds the action that works out the figures
  // and returns true. `step` is the job's step whose weights were evaluated.
  bool Step(uint64_t step, CoordinatorActions* actions);
  // Takes the figures that answer a ScoreAction. REQUIRES: working_out().
  CoordinatorActions OnScored(const EvalReport& figures);
  // Takes the answer to a WritePredictionsAction: `scores` scores are written.
  void OnWritten(uint64_t scores, bool last);

  // The number of rows that have their scores in the newest evaluation, and the
  // share of bytes whose pieces are scored; both 0 before the first evaluation.
  uint64_t rows() const { return scored_.rows(); }
  double FractionScored() const;
  // Fills in evals, eval, evaluating, predicted, predicted_nan, and
  // WorkerReport::scored of
  // the workers that are in the report.
  void Fill(JobReport* report) const;

 private:
  enum class State { kIdle, kScoring, kWorkingOut, kPredicting, kFlushing };

  absl::Status CheckScores(const EvalResult& result) const;
  absl::Status Keep(EvalResult result, size_t known,
                    CoordinatorActions* actions);
  void WriteReady(CoordinatorActions* actions);

  EvaluationRunOptions options_;
  PieceFacts facts_;
  uint32_t due_after_ = 0;

  State state_ = State::kIdle;
  uint32_t begun_ = 0;  // evaluations begun so far; numbers them
  // The newest evaluation, or the inference.
  LeaseTable leases_;
  ScoredRows scored_;
  std::shared_ptr<Evaluation> evaluation_;  // while scoring
  RunningAuc so_far_;                        // while scoring
  EvalReport known_;  // while working out: the part of the report known already
  std::unique_ptr<PredictionOrder> predictions_;  // only for an inference

  std::vector<EvalReport> evals_;
  std::map<int, uint64_t>
      scored_before_;  // rows of older evaluations, by worker
  uint64_t predicted_ = 0;
  uint64_t predicted_nan_ = 0;
};

}  // namespace shoal

#endif  // SHOAL_COORDINATOR_EVALUATION_RUN_H_
