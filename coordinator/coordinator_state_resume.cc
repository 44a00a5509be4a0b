// Where a job that begins from a checkpoint goes on.

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "coordinator/coordinator_state.h"

namespace shoal {

absl::Status CoordinatorState::On(const Member& from, ShardLoaded& message) {
  if (from.role != Role::kPs || options_.checkpoints.resume == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat(
        from.Name(), " loaded a checkpoint that it was not asked to load"));
  }
  if (phase_ >= JobPhase::kTraining) return absl::OkStatus();
  const absl::Status same = loaded_.AddShard(from.index, message.marks);
  if (!same.ok()) {
    End(same);
    return absl::OkStatus();
  }
  AskForMarks();
  // The last PS: those who came before it have waited for this.
  if (AllPsOpen()) SendViews();
  return absl::OkStatus();
}

absl::Status CoordinatorState::On(const Member& from, MarkRuns& message) {
  if (from.role != Role::kPs) {
    return absl::InvalidArgumentError(
        absl::StrCat(from.Name(), " sent marks, which are not its to send"));
  }
  if (phase_ >= JobPhase::kTraining) return absl::OkStatus();
  const absl::Status added = loaded_.Add(from.index, std::move(message));
  if (!added.ok()) return FailUnlessInvalid(from, added);
  AskForMarks();
  if (AllPsOpen()) SendViews();
  return absl::OkStatus();
}

absl::Status CoordinatorState::On(const Member& from,
                                  ManifestRequest& message) {
  if (from.role != Role::kPs) {
    return absl::InvalidArgumentError(absl::StrCat(
        from.Name(), " asked for a manifest, which is not its to ask"));
  }
  Send(from, saves_.Answer(message));
  return absl::OkStatus();
}

void CoordinatorState::AskForMarks() {
  if (phase_ != JobPhase::kGathering) return;
  const std::optional<MarkRunsRequest> request = loaded_.Ask();
  if (!request.has_value()) return;
  const Member* const ps = membership_.Find(Role::kPs, loaded_.source());
  if (ps != nullptr && ps->open()) Send(*ps, *request);
}

void CoordinatorState::StartRestoring() {
  const absl::Status same = book_.StartRestoring(
      options_.checkpoints.resume, saves_.report().resumed_from,
      membership_.files().train(), loaded_.Take());
  if (!same.ok()) {
    End(same);
    return;
  }
  phase_ = JobPhase::kRestoring;
  ContinueRestoring();
}

void CoordinatorState::ContinueRestoring() {
  const absl::StatusOr<bool> done = book_.Restore();
  if (!done.ok()) {
    End(done.status());
  } else if (*done) {
    OnRestored();
    BeginTraining();
  } else if (!std::exchange(continues_, true)) {
    actions_.emplace_back(ContinueAction{});
  }
}

void CoordinatorState::OnRestored() {
  progress_.OnTrained(book_.examples(), clock_.clock());
  saves_.GoOnFrom(book_);
  Log(LogLevel::kInfo,
      absl::StrCat("resumed from ", saves_.report().resumed_from, ", step ",
                   book_.totals().batches, ", epoch ",
                   std::max(book_.restored_epochs(), 1u), " of ",
                   options_.num_epochs, ", ", book_.totals().trained,
                   " samples trained"));
}

}  // namespace shoal
