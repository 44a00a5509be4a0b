#include "coordinator/evaluation_run.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/counted.h"
#include "base/status_macros.h"
#include "cluster/batch_bits.h"
#include "core/label.h"

namespace shoal {

EvaluationRun::EvaluationRun(EvaluationRunOptions options, PieceFacts pieces)
    : options_(std::move(options)), facts_(std::move(pieces)) {
  options_.leases.num_epochs = 1;
  options_.leases.num_pieces = facts_.size();
  options_.leases.shuffle = false;
}

void EvaluationRun::Plan(uint32_t complete, bool or_now) {
  due_after_ = options_.num_epochs;
  const uint64_t every = options_.eval_every_epochs;
  if (every == 0 || empty()) return;
  const uint64_t done = complete;
  const bool now = or_now && done != 0 && done % every == 0;
  const uint64_t next = now ? done : (done / every + 1) * every;
  due_after_ = static_cast<uint32_t>(std::min<uint64_t>(next, due_after_));
}

CoordinatorActions EvaluationRun::Begin() {
  SHOAL_DCHECK(!empty() && state_ == State::kIdle);
  for (const auto& [worker, rows] : scored_.rows_of_worker()) {
    scored_before_[worker] += rows;
  }
  scored_ =
      ScoredRows(begun_++, facts_.size(), options_.metrics->num_scores());
  leases_ = LeaseTable(options_.leases);
  std::string line;
  if (options_.task == JobTask::kInfer) {
    state_ = State::kPredicting;
    predictions_ =
        std::make_unique<PredictionOrder>(facts_.size(), options_.pieces_ahead);
    leases_.SetLimit(0, predictions_->limit());
    line = absl::StrCat("predicting for ", Counted(facts_.size(), "piece"));
  } else {
    state_ = State::kScoring;
    evaluation_ = std::make_shared<Evaluation>(
        options_.metrics, facts_.size(), options_.auc_exact_rows);
    so_far_ = RunningAuc();
    line = absl::StrCat(
        options_.task == JobTask::kTrain
            ? absl::StrCat("trained for ", Counted(due_after_, "epoch"), "; ")
            : "",
        "evaluating on ", Counted(facts_.size(), "piece"));
  }
  return {LogAction{LogLevel::kInfo, std::move(line)}};
}

Lease EvaluationRun::LeaseOf(const LeaseTable::Held& held) const {
  Lease lease;
  // Scores are reported in the order of the rows, never backwards.
  lease.purpose = options_.task == JobTask::kInfer ? LeasePurpose::kInfer
                                                   : LeasePurpose::kEvaluate;
  lease.epoch = scored_.number();
  lease.piece = facts_.piece(held.piece);
  // Rows that a dead worker has scored need not be scored again.
  BatchBits known;
  const uint64_t batches = scored_.rows(held.piece) / options_.batch_size;
  for (uint32_t i = 0; i < batches; ++i) known.Set(i);
  lease.skip = known.bytes();
  return lease;
}

absl::Status EvaluationRun::CheckCount(uint32_t piece) const {
  SHOAL_DCHECK(facts_.known(piece));
  if (begun_ == 0 || !scored_.complete(piece)) return absl::OkStatus();
  if (facts_.examples(piece) == scored_.rows(piece)) return absl::OkStatus();
  return absl::DataLossError(
      absl::StrCat(facts_.Name(piece), " has ", facts_.examples(piece),
                   " examples, but ", scored_.rows(piece), " were scored"));
}

absl::Status EvaluationRun::CheckScores(const EvalResult& result) const {
  if (options_.task != JobTask::kInfer) {
    return Evaluation::Check(*options_.metrics, result.piece, result.logits,
                             result.labels);
  }
  const size_t C = options_.metrics->num_scores();
  const uint8_t bad_row = BadRowLabel(options_.metrics->num_labels());
  for (size_t i = 0; i < result.logits.size(); ++i) {
    const uint8_t label = result.labels[i / C];
    if (label > bad_row) {
      return absl::InvalidArgumentError(
          absl::StrCat(facts_.Name(result.piece), ": a label is ", label));
    }
    if (!std::isfinite(result.logits[i]) && label != bad_row) {
      return absl::DataLossError(absl::StrCat(
          "row ", result.offset + i / C, " of ", facts_.Name(result.piece),
          ": its score is ", result.logits[i], "; the model has diverged"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> EvaluationRun::Take(EvalResult result, int worker,
                                         absl::Time now,
                                         CoordinatorActions* actions) {
  // A copy's scores may come after the other copy's scores ended the
  // evaluation.
  if (result.epoch < scored_.number()) return false;
  SHOAL_ASSIGN_OR_RETURN(const size_t known, scored_.Known(result));
  SHOAL_RETURN_IF_ERROR(CheckScores(result));
  leases_.Progress(result.lease, now);
  const uint32_t piece = result.piece;
  if (scored_.complete(piece)) return false;
  const bool progress = known < result.labels.size() || !result.more;
  scored_.Take(result, worker);
  if (scored_.complete(piece)) {
    leases_.Complete(0, piece);
    if (facts_.known(piece)) SHOAL_RETURN_IF_ERROR(CheckCount(piece));
  }
  SHOAL_RETURN_IF_ERROR(Keep(std::move(result), known, actions));
  return progress;
}

absl::Status EvaluationRun::Keep(EvalResult result, size_t known,
                                 CoordinatorActions* actions) {
  const auto front = static_cast<ptrdiff_t>(known);
  const ptrdiff_t C = options_.metrics->num_scores();
  result.logits.erase(result.logits.begin(), result.logits.begin() + front * C);
  result.labels.erase(result.labels.begin(), result.labels.begin() + front);
  if (options_.task != JobTask::kInfer) {
    std::vector<ScoredExample> ranked;
    options_.metrics->AppendRanked(result.logits, result.labels, &ranked);
    so_far_.Add(ranked);
    return evaluation_->Add(result.piece, std::move(result.logits),
                            std::move(result.labels));
  }
  const uint8_t bad_row = BadRowLabel(options_.metrics->num_labels());
  for (size_t i = 0; i < result.labels.size(); ++i) {
    if (result.labels[i] != bad_row) continue;
    std::fill_n(result.logits.begin() + static_cast<ptrdiff_t>(i) * C, C,
                std::nanf(""));
    ++predicted_nan_;
  }
  SHOAL_RETURN_IF_ERROR(
      predictions_->Add(result.piece, result.logits, !result.more));
  WriteReady(actions);
  return absl::OkStatus();
}

void EvaluationRun::WriteReady(CoordinatorActions* actions) {
  std::vector<float> ready = predictions_->TakeReady();
  leases_.SetLimit(0, predictions_->limit());
  const bool last = state_ == State::kPredicting && predictions_->complete();
  if (ready.empty() && !last) return;
  if (last) state_ = State::kFlushing;
  actions->emplace_back(WritePredictionsAction{std::move(ready), last});
}

void EvaluationRun::OnWritten(uint64_t scores, bool last) {
  predicted_ += scores / options_.metrics->num_scores();
  predictions_->Written(scores);
  leases_.SetLimit(0, predictions_->limit());
  if (last) state_ = State::kIdle;
}

bool EvaluationRun::Step(uint64_t step, CoordinatorActions* actions) {
  if (state_ != State::kScoring || !scored_.complete()) return false;
  state_ = State::kWorkingOut;
  known_ = EvalReport();
  known_.epoch = options_.task == JobTask::kTrain ? due_after_ : 0;
  known_.step = step;
  known_.examples_of_worker = scored_.rows_of_worker();
  actions->emplace_back(ScoreAction{std::exchange(evaluation_, nullptr)});
  return true;
}

CoordinatorActions EvaluationRun::OnScored(const EvalReport& figures) {
  SHOAL_DCHECK(working_out());
  state_ = State::kIdle;
  EvalReport report = figures;
  report.epoch = known_.epoch;
  report.step = known_.step;
  report.examples_of_worker = std::move(known_.examples_of_worker);
  std::string line =
      absl::StrCat(options_.task == JobTask::kTrain
                       ? absl::StrCat("after epoch ", report.epoch)
                       : "evaluated",
                   ": ", EvalText(report));
  evals_.push_back(std::move(report));
  return {LogAction{LogLevel::kInfo, std::move(line)}};
}

double EvaluationRun::FractionScored() const {
  double scored = 0;
  for (uint32_t i = 0; begun_ != 0 && i < facts_.size(); ++i) {
    const Piece& piece = facts_.piece(i);
    if (scored_.complete(i)) {
      scored += static_cast<double>(piece.end - piece.begin);
    }
  }
  return scored == 0 ? 0 : scored / static_cast<double>(facts_.bytes());
}

void EvaluationRun::Fill(JobReport* report) const {
  report->evals = evals_;
  if (!evals_.empty()) report->eval = evals_.back();
  if (state_ == State::kScoring || state_ == State::kWorkingOut) {
    report->evaluating = {FractionScored(), so_far_.Auc()};
  }
  report->predicted = predicted_;
  report->predicted_nan = predicted_nan_;
  for (WorkerReport& worker : report->workers) {
    const auto before = scored_before_.find(worker.index);
    if (before != scored_before_.end()) worker.scored = before->second;
    const auto now = scored_.rows_of_worker().find(worker.index);
    if (now != scored_.rows_of_worker().end()) worker.scored += now->second;
  }
}

}  // namespace shoal
