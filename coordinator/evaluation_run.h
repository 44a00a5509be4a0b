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
  // As in CoordinatorOptions. num_epochs: after as many the last one is made.
  uint32_t num_epochs = 1;
  uint32_t eval_every_epochs = 1;
  uint64_t auc_exact_rows = 0;
  const ScoreMetrics* metrics = &kBinaryMetrics;  // outlives the run
  // Pieces of an inference that may be leased before the next one to be written
  // is whole.
  uint32_t pieces_ahead = 2;
  // Of the leases: `hosts` and both times; of a piece table of its own.
  LeaseTableOptions leases;
};

// The evaluations of a job, or its one inference: when each is due, which of
// its pieces are leased, and what comes of their scores. Pure logic.
//
//   an evaluation:  idle --Begin--> scoring --every piece scored, Step-->
//     working out --OnScored--> idle
//   an inference:   idle --Begin--> predicting --every piece scored-->
//     flushing --the last rows written--> idle
//
// The job may train again as soon as an evaluation is worked out (ScoreAction),
// which changes no weight; the next one begins only after OnScored, since two
// would need twice the memory. Thread-compatible.
class EvaluationRun {
 public:
  EvaluationRun() = default;
  EvaluationRun(EvaluationRunOptions options, PieceFacts pieces);

  // There is nothing to score.
  bool empty() const { return facts_.size() == 0; }
  const PieceFacts& facts() const { return facts_; }
  LeaseTable& leases() { return leases_; }
  const LeaseTable& leases() const { return leases_; }

  // Finds due_after anew, `complete` epochs being complete: the first multiple
  // of eval_every_epochs after them, or the end. `or_now`: the epochs may be
  // due themselves.
  void Plan(uint32_t complete, bool or_now);
  // How many epochs must be complete before the next one begins, none of a
  // later epoch being begun.
  uint32_t due_after() const { return due_after_; }
  bool is_last() const { return due_after_ >= options_.num_epochs; }
  // The scores of one are out to be worked out.
  bool working_out() const { return state_ == State::kWorkingOut; }

  // REQUIRES: !empty(), and none is under way.
  CoordinatorActions Begin();
  // What a worker is to do with a piece; without number and batch size.
  Lease LeaseOf(const LeaseTable::Held& held) const;

  // A worker has read a piece whole: true at the first report on it. Errors:
  // those of PieceFacts::Add.
  absl::StatusOr<bool> Learn(const PieceReport& report) {
    return facts_.Add(report);
  }
  // DATA_LOSS: all rows of the piece are scored in the newest evaluation, and
  // they are not as many as were read. REQUIRES: facts().known(piece).
  absl::Status CheckCount(uint32_t piece) const;
  // Scores that a worker has sent; true if that is progress. Errors: those of
  // ScoredRows::Known, of Evaluation and of PredictionOrder, and DATA_LOSS (a
  // score is not finite; the piece has another number of rows).
  absl::StatusOr<bool> Take(EvalResult result, int worker, absl::Time now,
                            CoordinatorActions* actions);
  // Once every piece has its scores: has them worked out, as those of the
  // weights after so many steps. True then.
  bool Step(uint64_t step, CoordinatorActions* actions);
  // What became of a ScoreAction. REQUIRES: working_out().
  CoordinatorActions OnScored(const EvalReport& figures);
  // Of a WritePredictionsAction: so many scores were written.
  void OnWritten(uint64_t scores, bool last);

  // Of the newest one, and of none before the first: rows that have their
  // scores, and how much of all bytes these are.
  uint64_t rows() const { return scored_.rows(); }
  double FractionScored() const;
  // evals, eval, predicted, predicted_nan and WorkerReport::scored of the
  // workers that are in the report.
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
  uint32_t begun_ = 0;  // evaluations; numbers them
  LeaseTable leases_;   // of the newest, as all that follows
  ScoredRows scored_;
  std::shared_ptr<Evaluation> evaluation_;  // while scoring
  EvalReport known_;  // while it is worked out: what is known already
  std::unique_ptr<PredictionOrder> predictions_;  // of an inference

  std::vector<EvalReport> evals_;
  std::map<int, uint64_t> scored_before_;  // rows, by worker, of older ones
  uint64_t predicted_ = 0;
  uint64_t predicted_nan_ = 0;
};

}  // namespace shoal

#endif  // SHOAL_COORDINATOR_EVALUATION_RUN_H_
