// Checkpoints: what the processes say of them goes to JobSaves.

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "coordinator/coordinator_state.h"

namespace shoal {

CoordinatorActions CoordinatorState::RequestSave(uint64_t request,
                                                 absl::Time now) {
  clock_.Advance(now);
  Perform(saves_.Request(request, SavesView()));
  return TakeActions();
}

CoordinatorActions CoordinatorState::SaveAndStop(const absl::Status& reason,
                                                 absl::Time now) {
  clock_.Advance(now);
  Perform(saves_.Stop(reason, options_.process, SavesView()));
  return TakeActions();
}

CoordinatorActions CoordinatorState::OnCommitted(
    uint64_t number, absl::StatusOr<ManifestText> manifest, absl::Time now) {
  clock_.Advance(now);
  saves_.OnCommitted(number, std::move(manifest));
  return TakeActions();
}

absl::Status CoordinatorState::On(const Member& from, Held& message) {
  saves_.OnHeld(from, message);
  return absl::OkStatus();
}

absl::Status CoordinatorState::On(const Member& from, ShardWritten& message) {
  SHOAL_RETURN_IF_ERROR(OnlyFrom(Role::kPs, from, "a ShardWritten"));
  saves_.OnWritten(from, message);
  return absl::OkStatus();
}

absl::Status CoordinatorState::On(const Member& from, ShardSaved& message) {
  SHOAL_RETURN_IF_ERROR(OnlyFrom(Role::kPs, from, "a ShardSaved"));
  saves_.OnSaved(from, message);
  return absl::OkStatus();
}

absl::Status CoordinatorState::On(const Member& from, StopRequest& message) {
  if (from.role != Role::kPs) {
    return absl::InvalidArgumentError(absl::StrCat(
        from.Name(), " asked to stop the job, which is not its to ask"));
  }
  Perform(saves_.Stop(message.reason, ProcessName(from.role, from.index),
                      SavesView()));
  return absl::OkStatus();
}

JobSaves::View CoordinatorState::SavesView() {
  return {membership_, book_, desk_, phase_, clock_.now(), clock_.clock()};
}

void CoordinatorState::Perform(SaveEffects effects) {
  Perform(std::move(effects.actions));
  if (effects.released) {
    clock_.SeeProgress();
    for (LeaseTable* table : {&book_.leases(), &evaluation_.leases()}) {
      for (const LeaseTable::Held& held : table->held()) {
        table->Progress(held.number, clock_.now());
      }
    }
  }
  if (!effects.end.has_value()) return;
  End(*std::move(effects.end), std::move(effects.first), effects.stopped);
}

bool CoordinatorState::SavedAtEnd() {
  Perform(saves_.SaveEnd(SavesView()));
  return saves_.settled() && phase_ == JobPhase::kTraining;
}

}  // namespace shoal
