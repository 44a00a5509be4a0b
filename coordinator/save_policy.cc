#include "coordinator/save_policy.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status_macros.h"

namespace shoal {
namespace {

// Requests that may wait for one checkpoint.
constexpr size_t kSaveRequestsMax = 64;
// Checkpoints that are remembered, if more are kept.
constexpr size_t kRememberedMax = 64;

std::string Rounded(absl::Duration duration) {
  return absl::FormatDuration(absl::Trunc(duration, absl::Milliseconds(1)));
}

// Answers all of these requests alike.
void Reply(std::vector<uint64_t> requests,
           const absl::StatusOr<SavedCheckpoint>& saved, JobEffects* effects) {
  for (const uint64_t request : requests) {
    effects->actions.emplace_back(SaveReplyAction{request, saved});
  }
}

}  // namespace

SavePolicy::SavePolicy(const CheckpointOptions& options)
    : saves_(options.save),
      model_dir_(options.model_dir),
      every_(options.save_steps),
      interval_(options.save_every),
      deadline_(options.deadline),
      stop_time_(options.stop_deadline),
      retry_for_(options.retry_for),
      retry_pause_(options.retry_pause),
      keep_(options.keep <= 0
                ? kRememberedMax
                : std::min(kRememberedMax, static_cast<size_t>(options.keep))),
      next_step_(options.save_steps),
      settled_(!options.save) {
  if (saves_) report_.model_dir = model_dir_;
  report_.same_command_resumes = options.same_command_resumes;
  if (options.resume == nullptr) return;
  report_.resumed_from = options.resume_path();
  report_.resumed_step = options.resume->step;
  Keep({report_.resumed_from, report_.resumed_step,
        options.resume->notes.count(kDivergingNote) == 0});
  older_ = {options.sound_path, options.sound_step};
}

void SavePolicy::Keep(Kept kept) {
  kept_.push_back(std::move(kept));
  if (kept_.size() > keep_) kept_.erase(kept_.begin());
}

void SavePolicy::OnDiverged(uint64_t step) {
  // A save of this job may have removed the older one (--keep_checkpoints).
  Kept before = report_.saved == 0 ? older_ : Kept();
  for (const Kept& kept : kept_) {
    if (kept.sound && kept.step <= step) before = kept;
  }
  report_.before_divergence = std::move(before.path);
  report_.before_divergence_step = before.step;
}

void SavePolicy::GoOnFrom(uint64_t step, uint64_t samples) {
  report_.resumed_samples = samples;
  if (every_ != 0) next_step_ = (step / every_ + 1) * every_;
}

JobEffects SavePolicy::Request(uint64_t request, const View& view) {
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
  JobEffects effects;
  if (refused.ok()) {
    requests_.push_back(request);
  } else {
    Reply({request}, refused, &effects);
  }
  return effects;
}

JobEffects SavePolicy::Stop(const absl::Status& reason, std::string first,
                            const View& view, absl::Time now) {
  JobEffects effects;
  if (!saves_ || !Leases(view.phase)) {
    effects.end = JobOutcome{WithEndFailure(reason), std::move(first),
                             absl::IsCancelled(reason)};
  } else if (!stop_.has_value()) {
    stop_ = Stopping{reason, std::move(first), now + stop_time_};
    Log(LogLevel::kWarn,
        absl::StrCat(reason.message(), "; saving a checkpoint first"),
        &effects.actions);
  }
  return effects;
}

absl::Time SavePolicy::stop_deadline() const {
  return stop_.has_value() ? stop_->deadline : absl::InfiniteFuture();
}

bool SavePolicy::Due(const View& view, absl::Time now) {
  if (!saves_ || !Leases(view.phase)) return false;
  if (!interval_began_.has_value()) interval_began_ = now;
  if (view.busy) return false;
  const bool periodic = (next_step_ != 0 && view.step >= next_step_) ||
                        (interval_ > absl::ZeroDuration() &&
                         now >= *interval_began_ + interval_);
  return ((periodic || interrupted_) && view.sound) ||
         !requests_.empty() || (stop_.has_value() && now >= retry_at_);
}

bool SavePolicy::EndDue(const View& view, absl::Time now) {
  if (settled_) return false;
  if (!awaited_since_.has_value()) awaited_since_ = now;
  return !view.busy && now >= retry_at_;
}

void SavePolicy::Begin() {
  interrupted_ = false;
  being_saved_ = std::exchange(requests_, {});
}

JobEffects SavePolicy::OnInterrupted(const SaverDone& done) {
  JobEffects effects;
  interrupted_ = true;
  cut_step_.reset();
  requests_.insert(requests_.begin(), being_saved_.begin(), being_saved_.end());
  being_saved_.clear();
  Log(LogLevel::kWarn,
      absl::StrCat("the checkpoint that was being saved is saved later: ",
                   done.status.message()),
      &effects.actions);
  return effects;
}

JobEffects SavePolicy::OnLate(const SaverLate& late, bool trains) {
  JobEffects effects;
  late_ = absl::StrCat("the checkpoint at step ", late.step, ", begun ",
                       Rounded(late.began), " ago, still waits for ",
                       late.waiting_for);
  Log(LogLevel::kWarn,
      absl::StrCat(late_, ": does the disk hang?",
                   trains ? " Training goes on; no other checkpoint begins "
                            "before this one has ended"
                          : ""),
      &effects.actions);
  Reply(std::exchange(being_saved_, {}),
        absl::DeadlineExceededError(
            absl::StrCat(late_, "; it may still be saved")),
        &effects);
  Reply(std::exchange(requests_, {}), absl::FailedPreconditionError(late_),
        &effects);
  return effects;
}

JobEffects SavePolicy::Step(const View& view, absl::Time now) {
  SHOAL_DCHECK(view.late);
  JobEffects effects;
  if (stop_.has_value() && now >= stop_->deadline) {
    EndStopped(Lost(late_), &effects);
    return effects;
  }
  if (!view.trained || settled_) return effects;
  const bool is_last = cut_step_ == view.step;
  const bool waited =
      awaited_since_.has_value() && now >= *awaited_since_ + deadline_;
  if (!is_last && !waited) return effects;
  settled_ = true;
  end_status_ = absl::DeadlineExceededError(
      absl::StrCat("everything was trained, but it is not saved: ", late_));
  return effects;
}

JobEffects SavePolicy::StepWithoutSave(const View& view, absl::Time now) {
  JobEffects effects;
  if (stop_.has_value() && !view.busy && now >= stop_->deadline) {
    EndStopped(Lost("the workers of the job changed, and were not ready for a "
                    "checkpoint in time"),
               &effects);
  }
  return effects;
}

JobEffects SavePolicy::OnDone(const SaverDone& done, const View& view,
                              absl::Time now) {
  JobEffects effects;
  interval_began_ = now;
  // Training may have gone on since the cut.
  const uint64_t step =
      std::exchange(cut_step_, std::nullopt).value_or(view.step);
  if (every_ != 0) {
    next_step_ = ((done.status.ok() ? step : view.step) / every_ + 1) * every_;
  }
  const std::string path = absl::StrCat(model_dir_, "/", done.directory);
  Count(done, step, path, &effects);
  absl::StatusOr<SavedCheckpoint> saved = SavedCheckpoint{path, done.step};
  if (!done.status.ok()) saved = done.status;
  Reply(std::exchange(being_saved_, {}), saved, &effects);
  // Otherwise the end, or the stop, waits for the next save.
  if (step != view.step) return effects;
  if ((view.trained || stop_.has_value()) &&
      TriesAgain(done.status, now, &effects)) {
    return effects;
  }
  if (view.trained) {
    settled_ = true;
    end_status_ = Annotate(
        done.status,
        "everything was trained, but the last checkpoint was not saved");
  }
  if (!stop_.has_value()) return effects;
  if (done.status.ok()) {
    EndStopped(
        absl::Status(
            stop_->reason.code(),
            absl::StrCat(stop_->reason.message(), "; saved ", path, " at step ",
                         done.step)),
        &effects);
  } else {
    EndStopped(Lost(done.status.message()), &effects);
  }
  return effects;
}

bool SavePolicy::TriesAgain(const absl::Status& status, absl::Time now,
                            JobEffects* effects) {
  if (!absl::IsResourceExhausted(status)) return false;
  if (!full_since_.has_value()) full_since_ = now;
  const absl::Time give_up =
      stop_.has_value() ? stop_->deadline : *full_since_ + retry_for_;
  const absl::Time next = now + retry_pause_;
  if (next >= give_up) return false;
  retry_at_ = next;
  Log(LogLevel::kWarn,
      absl::StrCat("the last checkpoint is tried again in ",
                   Rounded(retry_pause_), ", and for another ",
                   Rounded(give_up - now), " at most: free space on the disk "
                   "that is full, or what was trained is lost"),
      &effects->actions);
  return true;
}

void SavePolicy::Count(const SaverDone& done, uint64_t step,
                       const std::string& path, JobEffects* effects) {
  report_.all_seconds += absl::ToDoubleSeconds(done.took);
  if (!done.status.ok()) {
    ++report_.voided;
    report_.last_error = std::string(done.status.message());
    const std::string& newest =
        report_.path.empty() ? report_.resumed_from : report_.path;
    Log(LogLevel::kWarn,
        absl::StrCat("the checkpoint at step ", step,
                     " was not saved: ", done.status.message(),
                     newest.empty() ? "; there is no earlier checkpoint"
                                    : absl::StrCat("; the newest is ", newest)),
        &effects->actions);
  } else if (done.fresh) {
    ++report_.saved;
    report_.path = path;
    report_.step = done.step;
    Keep({path, done.step, cut_sound_});
    report_.seconds = absl::ToDoubleSeconds(done.took);
    Log(LogLevel::kInfo,
        absl::StrCat("saved ", path, " at step ", done.step,
                     "; training stood still for ", Rounded(done.took)),
        &effects->actions);
  }
}

// REQUIRES: stop_.
void SavePolicy::EndStopped(absl::Status status, JobEffects* effects) const {
  SHOAL_DCHECK(stop_.has_value());
  effects->end = JobOutcome{std::move(status), stop_->first, true};
}

absl::Status SavePolicy::WithEndFailure(const absl::Status& reason) const {
  if (!settled_ || end_status_.ok()) return reason;
  return absl::AbortedError(
      absl::StrCat(reason.message(), "; ", end_status_.message()));
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

JobEffects SavePolicy::RefuseAll() {
  JobEffects effects;
  Reply(std::exchange(requests_, {}),
        absl::FailedPreconditionError("the job is ending"), &effects);
  return effects;
}

}  // namespace shoal
