#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "coordinator/coordinator_state.h"

namespace shoal {

void CoordinatorState::PlanEvaluation() {
  // A job that begins where such an epoch ended makes its evaluation now: it
  // may have been stopped in it.
  const bool may_be_now = phase_ < JobPhase::kTraining && book_.AtEndOfEpoch();
  evaluation_.Plan(book_.CompleteEpochs(), may_be_now);
  book_.leases().SetLimit(evaluation_.due_after());
}

void CoordinatorState::StartEvaluating() {
  phase_ = JobPhase::kEvaluating;
  clock_.BeginPhase();
  if (evaluation_.empty()) {
    StartReporting();
  } else {
    Perform(evaluation_.Begin());
  }
}

absl::Status CoordinatorState::On(const Member& from, EvalResult& message) {
  if (from.role != Role::kWorker) {
    return absl::InvalidArgumentError(
        absl::StrCat(from.Name(), " sent scores, which are not its to send"));
  }
  if (phase_ != JobPhase::kEvaluating) return absl::OkStatus();
  const absl::StatusOr<bool> progress =
      evaluation_.Take(std::move(message), from.index, clock_.now(), &actions_);
  if (!progress.ok()) return FailUnlessInvalid(from, progress.status());
  if (*progress) clock_.SeeProgress();
  return absl::OkStatus();
}

CoordinatorActions CoordinatorState::OnPredictionsWritten(
    uint64_t scores, bool last, const absl::Status& status, absl::Time now) {
  clock_.Advance(now);
  if (phase_ != JobPhase::kEvaluating) return TakeActions();
  if (!status.ok()) {
    End(Annotate(status, "--predictions_file"));
    return TakeActions();
  }
  evaluation_.OnWritten(scores, last);
  clock_.SeeProgress();
  if (last) StartReporting();
  return TakeActions();
}

void CoordinatorState::ContinueEvaluating() {
  const uint64_t step = options_.task == JobTask::kTrain
                            ? book_.totals().batches
                            : saves_.report().resumed_step;
  if (!evaluation_.Step(step, &actions_) || evaluation_.is_last()) return;
  phase_ = JobPhase::kTraining;
  clock_.BeginPhase();
  PlanEvaluation();
}

CoordinatorActions CoordinatorState::OnScored(const EvalReport& figures,
                                              absl::Time now) {
  clock_.Advance(now);
  if (!evaluation_.working_out() || phase_ >= JobPhase::kEnding) {
    return TakeActions();
  }
  Perform(evaluation_.OnScored(figures));
  // The last one: nothing is left to train.
  if (phase_ == JobPhase::kEvaluating) StartReporting();
  return TakeActions();
}

}  // namespace shoal
