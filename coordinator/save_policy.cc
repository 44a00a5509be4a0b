#include "coordinator/save_policy.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status_macros.h"

namespace shoal {
namespace {

// That wait for one checkpoint.
constexpr size_t kSaveRequestsMax = 64;

std::string Rounded(absl::Duration duration) {
  return absl::FormatDuration(absl::Trunc(duration, absl::Milliseconds(1)));
}

void Log(LogLevel level, std::string line, SaveOutcome* outcome) {
  outcome->actions.emplace_back(LogAction{level, std::move(line)});
}

// Answers all of them alike.
void Reply(std::vector<uint64_t> requests,
           const absl::StatusOr<SavedCheckpoint>& saved, SaveOutcome* outcome) {
  for (const uint64_t request : requests) {
    outcome->actions.emplace_back(SaveReplyAction{request, saved});
  }
}

}  // namespace

SavePolicy::SavePolicy(const CheckpointOptions& options)
    : saves_(options.save),
      model_dir_(options.model_dir),
      every_(options.save_steps),
      deadline_(options.deadline),
      stop_time_(options.stop_deadline),
      next_step_(options.save_steps),
      settled_(!options.save) {
  if (options.resume == nullptr) return;
  report_.resumed_from = absl::StrCat(model_dir_, "/", options.resume_name);
  report_.resumed_step = options.resume->step;
}

void SavePolicy::GoOnFrom(uint64_t step, uint64_t samples) {
  report_.resumed_samples = samples;
  if (every_ != 0) next_step_ = (step / every_ + 1) * every_;
}

SaveOutcome SavePolicy::Request(uint64_t request, const View& view) {
  absl::Status refused;
  if (!saves_) {
    refused = absl::FailedPreconditionError(
        "the job writes no checkpoints: it was started without --model_dir");
  } else if (view.phase < JobPhase::kTraining) {
    refused = absl::FailedPreconditionError(
        "nothing has been trained yet: the job waits for its processes");
  } else if (view.phase >= JobPhase::kReporting) {
    refused = absl::FailedPreconditionError("the job is ending");
  } else if (view.late) {
    refused = absl::FailedPreconditionError(late_);
  } else if (requests_.size() >= kSaveRequestsMax) {
    refused = absl::ResourceExhaustedError(absl::StrCat(
        kSaveRequestsMax, " requests wait for the next checkpoint already"));
  }
  SaveOutcome outcome;
  if (refused.ok()) {
    requests_.push_back(request);
  } else {
    Reply({request}, refused, &outcome);
  }
  return outcome;
}

SaveOutcome SavePolicy::Stop(const absl::Status& reason, std::string first,
                             const View& view, absl::Time now) {
  SaveOutcome outcome;
  if (!saves_ || !Leases(view.phase)) {
    outcome.end = reason;
    outcome.first = std::move(first);
  } else if (!stop_.has_value()) {
    stop_ = Stopping{reason, std::move(first), now + stop_time_};
    Log(LogLevel::kWarn,
        absl::StrCat(reason.message(), "; saving a checkpoint first"),
        &outcome);
  }
  return outcome;
}

absl::Time SavePolicy::stop_deadline() const {
  return stop_.has_value() ? stop_->deadline : absl::InfiniteFuture();
}

bool SavePolicy::Due(const View& view) const {
  if (!saves_ || !Leases(view.phase) || view.busy) return false;
  return (next_step_ != 0 && view.step >= next_step_) || !requests_.empty() ||
         stop_.has_value();
}

bool SavePolicy::EndDue(const View& view, absl::Time now) {
  if (settled_) return false;
  if (!awaited_since_.has_value()) awaited_since_ = now;
  return !view.busy;
}

void SavePolicy::Begin() { being_saved_ = std::exchange(requests_, {}); }

SaveOutcome SavePolicy::OnLate(const SaverLate& late, bool trains) {
  SaveOutcome outcome;
  late_ = absl::StrCat("the checkpoint at step ", late.step, ", begun ",
                       Rounded(late.began), " ago, still waits for ",
                       late.waiting_for);
  Log(LogLevel::kWarn,
      absl::StrCat(late_, ": does the disk hang?",
                   trains ? " Training goes on, and no other checkpoint begins "
                            "before that is over"
                          : ""),
      &outcome);
  Reply(std::exchange(being_saved_, {}),
        absl::DeadlineExceededError(
            absl::StrCat(late_, "; whether it becomes one is not decided")),
        &outcome);
  Reply(std::exchange(requests_, {}), absl::FailedPreconditionError(late_),
        &outcome);
  return outcome;
}

SaveOutcome SavePolicy::Step(const View& view, absl::Time now) {
  SHOAL_DCHECK(view.late);
  SaveOutcome outcome;
  if (stop_.has_value() && now >= stop_->deadline) {
    EndStopped(Lost(late_), &outcome);
    return outcome;
  }
  if (!view.trained || settled_) return outcome;
  const bool is_last = cut_step_ == view.step;
  const bool waited =
      awaited_since_.has_value() && now >= *awaited_since_ + deadline_;
  if (!is_last && !waited) return outcome;
  settled_ = true;
  end_status_ = absl::DeadlineExceededError(
      absl::StrCat("everything was trained, but it is not saved: ", late_));
  return outcome;
}

SaveOutcome SavePolicy::OnDone(const SaverDone& done, const View& view) {
  SaveOutcome outcome;
  // Training may have gone on since the cut.
  const uint64_t step =
      std::exchange(cut_step_, std::nullopt).value_or(view.step);
  if (every_ != 0) {
    next_step_ = ((done.status.ok() ? step : view.step) / every_ + 1) * every_;
  }
  const std::string path = absl::StrCat(model_dir_, "/", done.directory);
  Count(done, step, path, &outcome);
  absl::StatusOr<SavedCheckpoint> saved = SavedCheckpoint{path, done.step};
  if (!done.status.ok()) saved = done.status;
  Reply(std::exchange(being_saved_, {}), saved, &outcome);
  // Otherwise what was trained since is saved next, or waits for it.
  if (step != view.step) return outcome;
  if (view.trained) {
    settled_ = true;
    end_status_ = Annotate(
        done.status, "everything was trained, but its checkpoint is void");
  }
  if (!stop_.has_value()) return outcome;
  if (done.status.ok()) {
    EndStopped(
        absl::Status(
            stop_->reason.code(),
            absl::StrCat(stop_->reason.message(), "; saved ", path, " at step ",
                         done.step, ", from where the same command goes on")),
        &outcome);
  } else {
    EndStopped(Lost(done.status.message()), &outcome);
  }
  return outcome;
}

void SavePolicy::Count(const SaverDone& done, uint64_t step,
                       const std::string& path, SaveOutcome* outcome) {
  report_.all_seconds += absl::ToDoubleSeconds(done.took);
  if (!done.status.ok()) {
    ++report_.voided;
    report_.last_error = std::string(done.status.message());
    const std::string& newest =
        report_.path.empty() ? report_.resumed_from : report_.path;
    Log(LogLevel::kWarn,
        absl::StrCat("the checkpoint at step ", step,
                     " is void: ", done.status.message(),
                     newest.empty() ? "; there is none yet"
                                    : absl::StrCat("; the newest is ", newest)),
        outcome);
  } else if (done.fresh) {
    ++report_.saved;
    report_.path = path;
    report_.step = done.step;
    report_.seconds = absl::ToDoubleSeconds(done.took);
    Log(LogLevel::kInfo,
        absl::StrCat("saved ", path, " at step ", done.step,
                     "; training stood still for ", Rounded(done.took)),
        outcome);
  }
}

// REQUIRES: stop_.
void SavePolicy::EndStopped(absl::Status status, SaveOutcome* outcome) const {
  SHOAL_DCHECK(stop_.has_value());
  outcome->end = std::move(status);
  outcome->first = stop_->first;
  outcome->stopped = true;
}

// REQUIRES: stop_.
absl::Status SavePolicy::Lost(absl::string_view why) const {
  SHOAL_DCHECK(stop_.has_value());
  return absl::AbortedError(absl::StrCat(
      stop_->reason.message(),
      "; what was trained since the last checkpoint is lost: ", why));
}

absl::Status SavePolicy::Ending(const View& view) const {
  return absl::FailedPreconditionError(
      view.late ? absl::StrCat("the job is ending: ", late_)
                : "the job is ending");
}

SaveOutcome SavePolicy::RefuseAll() {
  SaveOutcome outcome;
  Reply(std::exchange(requests_, {}),
        absl::FailedPreconditionError("the job is ending"), &outcome);
  return outcome;
}

}  // namespace shoal
