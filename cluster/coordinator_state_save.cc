// Checkpoints: when to save one, and what the saver's actions mean.

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "cluster/coordinator_state.h"

namespace shoal {

// ---- Events -----------------------------------------------------------------

CoordinatorActions CoordinatorState::RequestSave(uint64_t request,
                                                 absl::Time now) {
  clock_.Advance(now);
  Perform(policy_.Request(request, SaveView()));
  return TakeActions();
}

CoordinatorActions CoordinatorState::SaveAndStop(const absl::Status& reason,
                                                 absl::Time now) {
  clock_.Advance(now);
  StopOnceSaved(reason, options_.process);
  return TakeActions();
}

void CoordinatorState::StopOnceSaved(const absl::Status& reason,
                                     std::string first) {
  Perform(policy_.Stop(reason, std::move(first), SaveView(), clock_.now()));
  saver_.Hurry(policy_.stop_deadline());
}

CoordinatorActions CoordinatorState::OnCommitted(
    uint64_t number, absl::StatusOr<ManifestText> manifest, absl::Time now) {
  clock_.Advance(now);
  if (manifest.ok()) manifests_.OnWritten(*manifest);
  saver_.OnCommitted(number, manifest.status(),
                     manifest.ok() ? OfferOf(*manifest) : ManifestOffer{});
  return TakeActions();
}

absl::Status CoordinatorState::On(const Member& from, Held& message) {
  saver_.OnHeld(from, message);
  return absl::OkStatus();
}

absl::Status CoordinatorState::On(const Member& from, ShardWritten& message) {
  SHOAL_RETURN_IF_ERROR(OnlyFrom(Role::kPs, from, "a ShardWritten"));
  saver_.OnWritten(from, message);
  return absl::OkStatus();
}

absl::Status CoordinatorState::On(const Member& from, ShardSaved& message) {
  SHOAL_RETURN_IF_ERROR(OnlyFrom(Role::kPs, from, "a ShardSaved"));
  saver_.OnSaved(from, message);
  return absl::OkStatus();
}

absl::Status CoordinatorState::On(const Member& from, StopRequest& message) {
  if (from.role != Role::kPs) {
    return absl::InvalidArgumentError(absl::StrCat(
        from.Name(), " asked to stop the job, which is not its to ask"));
  }
  StopOnceSaved(message.reason, ProcessName(from.role, from.index));
  return absl::OkStatus();
}

// ---- Saving -----------------------------------------------------------------

void CoordinatorState::DriveSaver(
    absl::FunctionRef<SaverActions(const CheckpointSaver::View&)> use) {
  // While training goes on the saver does not ask, and every mark comes here.
  std::vector<std::pair<uint32_t, uint32_t>> half_marked;
  if (saver_.withholds()) half_marked = book_.HalfMarked();
  CheckpointSaver::View view;
  view.ps = membership_.Open(Role::kPs);
  view.workers = membership_.Open(Role::kWorker);
  view.num_ps = static_cast<size_t>(options_.num_ps);
  view.step = book_.totals().batches;
  view.half_marked = half_marked;
  Perform(use(view));
}

SavePolicy::View CoordinatorState::SaveView() const {
  SavePolicy::View view;
  view.phase = phase_;
  view.step = book_.totals().batches;
  view.trained = book_.complete();
  view.busy = saver_.busy();
  view.late = saver_.late();
  return view;
}

void CoordinatorState::Perform(SaveOutcome outcome) {
  Perform(std::move(outcome.actions));
  if (!outcome.end.has_value()) return;
  End(*std::move(outcome.end), std::move(outcome.first), outcome.stopped);
}

void CoordinatorState::StepSave() {
  if (!Leases(phase_) && phase_ != JobPhase::kReporting) return;
  if (saver_.busy()) {
    DriveSaver([this](const CheckpointSaver::View& view) {
      return saver_.Step(view, clock_.now());
    });
  }
  if (Leases(phase_) && saver_.late()) {
    Perform(policy_.Step(SaveView(), clock_.now()));
  }
  if (policy_.Due(SaveView())) BeginSave();
}

void CoordinatorState::BeginSave() {
  policy_.Begin();
  DriveSaver([this](const CheckpointSaver::View& view) {
    return saver_.Begin(view, policy_.stop_deadline(), clock_.now());
  });
}

bool CoordinatorState::SavedAtEnd() {
  if (policy_.EndDue(SaveView(), clock_.now())) BeginSave();
  return policy_.settled() && phase_ == JobPhase::kTraining;
}

void CoordinatorState::Perform(SaverActions actions) {
  for (SaverAction& action : actions) {
    if (auto* send = std::get_if<SaverSend>(&action)) {
      const Member* const member = membership_.FindLife(send->to);
      if (member != nullptr && member->open()) {
        Send(*member, std::move(send->message));
      }
    } else if (auto* mend = std::get_if<SaverMend>(&action)) {
      Mend(*mend);
    } else if (auto* cut = std::get_if<SaverCut>(&action)) {
      TakeCut(*cut);
    } else if (std::get_if<SaverReleased>(&action) != nullptr) {
      OnReleased();
    } else if (auto* late = std::get_if<SaverLate>(&action)) {
      const bool trains = !saver_.withholds() && !book_.complete();
      Perform(policy_.OnLate(*late, trains));
    } else if (auto* commit = std::get_if<SaverCommit>(&action)) {
      Commit(std::move(*commit));
    } else if (auto* done = std::get_if<SaverDone>(&action)) {
      manifests_.Drop();
      Perform(policy_.OnDone(*done, SaveView()));
    }
  }
}

void CoordinatorState::Mend(const SaverMend& mend) {
  const FileList& files = membership_.files().train();
  const Piece piece = book_.facts().piece(mend.piece);
  for (const Member& worker : membership_.Open(Role::kWorker)) {
    if (worker.suspended) continue;
    if (!files.hosts.empty() && files.hosts[piece.source] != worker.index) {
      continue;
    }
    Lease lease = book_.MendOf(mend.epoch, mend.piece);
    lease.number = desk_.TakeNumber();
    lease.piece.source = files.LocalIndex(piece.source);
    lease.batch_size = options_.batch_size;
    saver_.OnMendGranted(mend, lease.number, worker.life);
    Log(LogLevel::kInfo,
        absl::StrCat(worker.Name(), " trains batches of ",
                     book_.facts().Name(mend.piece),
                     " that not every shard has, before they are saved"));
    Send(worker, LeaseGrant{std::move(lease)});
    return;
  }
}

void CoordinatorState::Commit(SaverCommit commit) {
  const uint64_t number = commit.number;
  absl::StatusOr<CommitAction> action = manifests_.Finish(std::move(commit));
  if (action.ok()) {
    actions_.emplace_back(*std::move(action));
  } else {
    // Taken at the next step of the saver.
    saver_.OnCommitted(number, action.status(), {});
  }
}

void CoordinatorState::TakeCut(const SaverCut& cut) {
  policy_.OnCut(book_.totals().batches);
  Manifest manifest;
  manifest.time = clock_.clock();
  manifest.job = options_.job;
  manifest.attempt = cut.attempt;
  manifest.start = options_.start;
  manifest.config = options_.config;
  manifest.model = options_.checkpoints.model;
  manifest.map = options_.checkpoints.map;
  manifest.data.sources = membership_.files().train().files;
  manifest.data.hosts = membership_.files().train().hosts;
  book_.SaveInto(&manifest);
  manifests_.Cut(std::move(manifest));
}

void CoordinatorState::OnReleased() {
  // Training stood still: no process is late for that.
  clock_.SeeProgress();
  for (LeaseTable* table : {&book_.leases(), &evaluation_.leases()}) {
    for (const LeaseTable::Held& held : table->held()) {
      table->Progress(held.number, clock_.now());
    }
  }
}

void CoordinatorState::EndSaves() {
  Perform(saver_.Void(policy_.Ending(SaveView()), clock_.now()));
  Perform(policy_.RefuseAll());
}

}  // namespace shoal
