#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/counted.h"
#include "base/status_macros.h"
#include "cluster/batch_bits.h"
#include "cluster/coordinator_state.h"

namespace shoal {
namespace {

// Pieces of an inference that a worker may be ahead of the next one to be
// written.
constexpr uint32_t kPiecesAhead = 2;

}  // namespace

void CoordinatorState::PlanEvaluation() {
  next_evaluation_ = options_.num_epochs;
  const uint64_t every = options_.eval_every_epochs;
  if (every != 0 && eval_facts_.size() != 0) {
    // A job that begins where such an epoch ended makes its evaluation now: it
    // may have been stopped in it.
    const uint64_t done = ledger_.CompleteEpochs();
    const bool due_now = phase_ < JobPhase::kTraining && done != 0 &&
                         done % every == 0 && AtEndOfEpoch();
    const uint64_t next = due_now ? done : (done / every + 1) * every;
    next_evaluation_ =
        static_cast<uint32_t>(std::min<uint64_t>(next, next_evaluation_));
  }
  train_leases_.SetLimit(next_evaluation_);
}

bool CoordinatorState::AtEndOfEpoch() const {
  uint64_t batches = 0;  // of an epoch
  for (uint32_t i = 0; i < train_facts_.size(); ++i) {
    batches += train_facts_.batches(i);
  }
  return ledger_.totals().batches == ledger_.CompleteEpochs() * batches;
}

void CoordinatorState::StartEvaluating() {
  phase_ = JobPhase::kEvaluating;
  clock_.BeginPhase();
  if (eval_facts_.size() == 0) {
    StartReporting();
    return;
  }
  for (const auto& [worker, rows] : scored_.rows_of_worker()) {
    scored_before_[worker] += rows;
  }
  scored_ = ScoredRows(evaluations_++, eval_facts_.size());
  eval_leases_ = LeaseTable(EvalLeaseOptions());
  if (options_.task == JobTask::kInfer) {
    predictions_.emplace(eval_facts_.size(),
                         kPiecesAhead * static_cast<uint32_t>(
                                            std::max(1, options_.num_workers)));
    eval_leases_.SetLimit(0, predictions_->limit());
    Log(LogLevel::kInfo,
        absl::StrCat("predicting for ", Counted(eval_facts_.size(), "piece")));
    return;
  }
  evaluation_ =
      std::make_shared<Evaluation>(eval_facts_.size(), options_.auc_exact_rows);
  Log(LogLevel::kInfo,
      absl::StrCat(
          options_.task == JobTask::kTrain
              ? absl::StrCat("trained for ",
                             Counted(next_evaluation_, "epoch"), "; ")
              : "",
          "evaluating on ", Counted(eval_facts_.size(), "piece")));
}

Lease CoordinatorState::EvaluationLease(const LeaseTable::Held& held) const {
  Lease lease;
  // Scores are reported in the order of the rows, never backwards.
  lease.purpose = options_.task == JobTask::kInfer ? LeasePurpose::kInfer
                                                   : LeasePurpose::kEvaluate;
  lease.epoch = scored_.number();
  lease.piece = eval_facts_.piece(held.piece);
  // What a dead worker has scored need not be scored again.
  BatchBits known;
  const uint64_t batches = scored_.rows(held.piece) / options_.batch_size;
  for (uint32_t i = 0; i < batches; ++i) known.Set(i);
  lease.skip = known.bytes();
  return lease;
}

absl::Status CoordinatorState::CheckScores(const EvalResult& result) const {
  if (options_.task != JobTask::kInfer) {
    return Evaluation::Check(result.piece, result.logits, result.labels);
  }
  for (size_t i = 0; i < result.labels.size(); ++i) {
    const bool bad_row = result.labels[i] == kBadRowLabel;
    if (!std::isfinite(result.logits[i]) && !bad_row) {
      return absl::DataLossError(absl::StrCat(
          "row ", result.offset + i, " of ", eval_facts_.Name(result.piece),
          ": its score is ", result.logits[i], "; the model has diverged"));
    }
  }
  return absl::OkStatus();
}

absl::Status CoordinatorState::On(const Member& from, EvalResult& message) {
  if (from.role != Role::kWorker) {
    return absl::InvalidArgumentError(
        absl::StrCat(from.Name(), " sent scores, which are not its to send"));
  }
  // Scores of a copy may come when the other copy's have ended the evaluation.
  if (phase_ != JobPhase::kEvaluating || message.epoch < scored_.number()) {
    return absl::OkStatus();
  }
  const absl::StatusOr<size_t> known = scored_.Known(message);
  if (!known.ok()) return FailUnlessInvalid(from, known.status());
  const absl::Status sound = CheckScores(message);
  if (!sound.ok()) return FailUnlessInvalid(from, sound);
  eval_leases_.Progress(message.lease, clock_.now());
  const uint32_t piece = message.piece;
  const bool was_complete = scored_.complete(piece);
  if (was_complete) return absl::OkStatus();
  if (*known < message.labels.size() || !message.more) {
    clock_.SeeProgress();
  }
  scored_.Take(message, from.index);
  if (scored_.complete(piece)) {
    eval_leases_.Complete(0, piece);
    if (eval_facts_.known(piece) &&
        eval_facts_.examples(piece) != scored_.rows(piece)) {
      End(absl::DataLossError(
          absl::StrCat(from.Name(), ": ", eval_facts_.Name(piece), " has ",
                       eval_facts_.examples(piece), " examples, but ",
                       scored_.rows(piece), " were scored")));
      return absl::OkStatus();
    }
  }
  const absl::Status taken = TakeScores(std::move(message), *known);
  return taken.ok() ? taken : FailUnlessInvalid(from, taken);
}

absl::Status CoordinatorState::TakeScores(EvalResult result, size_t known) {
  const auto front = static_cast<ptrdiff_t>(known);
  result.logits.erase(result.logits.begin(), result.logits.begin() + front);
  result.labels.erase(result.labels.begin(), result.labels.begin() + front);
  if (!predictions_.has_value()) {
    return evaluation_->Add(result.piece, std::move(result.logits),
                            std::move(result.labels));
  }
  for (size_t i = 0; i < result.labels.size(); ++i) {
    if (result.labels[i] != kBadRowLabel) continue;
    result.logits[i] = std::nanf("");
    ++predicted_nan_;
  }
  SHOAL_RETURN_IF_ERROR(
      predictions_->Add(result.piece, result.logits, !result.more));
  WriteReadyPredictions();
  return absl::OkStatus();
}

void CoordinatorState::WriteReadyPredictions() {
  std::vector<float> ready = predictions_->TakeReady();
  eval_leases_.SetLimit(0, predictions_->limit());
  const bool last = predictions_->complete() && !predictions_ended_;
  if (ready.empty() && !last) return;
  predictions_ended_ |= last;
  actions_.emplace_back(WritePredictionsAction{std::move(ready), last});
}

CoordinatorActions CoordinatorState::OnPredictionsWritten(
    uint64_t rows, bool last, const absl::Status& status, absl::Time now) {
  clock_.Advance(now);
  if (phase_ != JobPhase::kEvaluating) return TakeActions();
  if (!status.ok()) {
    End(Annotate(status, "--predictions_file"));
    return TakeActions();
  }
  predicted_ += rows;
  predictions_->Written(rows);
  eval_leases_.SetLimit(0, predictions_->limit());
  clock_.SeeProgress();
  if (last) StartReporting();
  return TakeActions();
}

void CoordinatorState::ContinueEvaluating() {
  if (evaluation_ == nullptr || !scored_.complete()) return;
  scoring_.emplace();
  scoring_->epoch = options_.task == JobTask::kTrain ? next_evaluation_ : 0;
  scoring_->step = options_.task == JobTask::kTrain
                       ? ledger_.totals().batches
                       : policy_.report().resumed_step;
  scoring_->examples_of_worker = scored_.rows_of_worker();
  actions_.emplace_back(ScoreAction{std::exchange(evaluation_, nullptr)});
  if (next_evaluation_ < options_.num_epochs) ResumeTraining();
}

void CoordinatorState::ResumeTraining() {
  phase_ = JobPhase::kTraining;
  clock_.BeginPhase();
  PlanEvaluation();
}

CoordinatorActions CoordinatorState::OnScored(const EvalReport& figures,
                                              absl::Time now) {
  clock_.Advance(now);
  if (!scoring_.has_value() || phase_ >= JobPhase::kEnding)
    return TakeActions();
  EvalReport report = figures;
  report.epoch = scoring_->epoch;
  report.step = scoring_->step;
  report.examples_of_worker = std::move(scoring_->examples_of_worker);
  scoring_.reset();
  Log(LogLevel::kInfo,
      absl::StrCat(options_.task == JobTask::kTrain
                       ? absl::StrCat("after epoch ", report.epoch)
                       : "evaluated",
                   ": ", EvalText(report)));
  evals_.push_back(std::move(report));
  // The last one: nothing is left to train.
  if (phase_ == JobPhase::kEvaluating && evaluation_ == nullptr)
    StartReporting();
  return TakeActions();
}

}  // namespace shoal
