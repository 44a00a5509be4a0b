// Where a job that began from a checkpoint goes on.

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "cluster/coordinator_state.h"
#include "cluster/resume.h"

namespace shoal {

absl::Status CoordinatorState::On(const Member& from, ShardLoaded& message) {
  if (from.role != Role::kPs || options_.checkpoints.resume == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat(
        from.Name(), " loaded a checkpoint that it was not asked to load"));
  }
  if (phase_ != Phase::kGathering) return absl::OkStatus();
  if (loaded_shards_.empty()) {
    loaded_marks_ = std::move(message.marks);
  } else if (message.marks != loaded_marks_) {
    End(absl::DataLossError(absl::StrCat(
        from.Name(), " has loaded the marks of other batches than ",
        ProcessName(Role::kPs, *loaded_shards_.begin()),
        " has: their files are not of one checkpoint")));
    return absl::OkStatus();
  }
  loaded_shards_.insert(from.index);
  if (AllPsOpen()) {
    // The last PS: those who came before it have waited for this.
    for (const Member& member : membership_.members()) {
      if (member.open()) Send(member, View());
    }
  }
  return absl::OkStatus();
}

bool CoordinatorState::AllPsLoaded() const {
  return options_.checkpoints.resume == nullptr ||
         phase_ != Phase::kGathering ||
         loaded_shards_.size() == static_cast<size_t>(options_.num_ps);
}

void CoordinatorState::OnPieceComplete(uint32_t epoch, uint32_t piece) {
  train_leases_.Complete(epoch, piece);
  complete_bytes_ +=
      train_facts_.piece(piece).end - train_facts_.piece(piece).begin;
}

absl::Status CoordinatorState::RestoreTraining() {
  const CheckpointOptions& checkpoints = options_.checkpoints;
  if (checkpoints.resume == nullptr || !checkpoints.resume_training) {
    return absl::OkStatus();
  }
  const Manifest& manifest = *checkpoints.resume;
  SHOAL_RETURN_IF_ERROR(CheckSameData(
      manifest.data, membership_.files().train(), train_facts_.pieces()));
  for (uint32_t i = 0; i < train_facts_.size(); ++i) {
    const std::optional<SavedPieceFacts>& facts = manifest.data.pieces[i].facts;
    if (!facts.has_value()) continue;
    SHOAL_RETURN_IF_ERROR(train_facts_.Restore(i, *facts));
    SHOAL_ASSIGN_OR_RETURN(const std::vector<uint32_t> complete,
                           ledger_.SetExamples(i, facts->examples));
    for (const uint32_t epoch : complete) OnPieceComplete(epoch, i);
  }
  uint32_t epochs = 0;
  for (const MarkRun& run : loaded_marks_) {
    if (run.epoch >= options_.num_epochs) {
      return absl::FailedPreconditionError(
          absl::StrCat("the checkpoint has batches of epoch ", run.epoch + 1,
                       ", and --num_epochs=", options_.num_epochs,
                       ": it may grow but not shrink"));
    }
    epochs = std::max(epochs, run.epoch + 1);
  }
  SHOAL_ASSIGN_OR_RETURN(const auto complete, ledger_.Restore(loaded_marks_));
  for (const auto& [epoch, piece] : complete) OnPieceComplete(epoch, piece);
  loaded_marks_ = {};
  const LedgerTotals& totals = ledger_.totals();
  if (totals.batches != manifest.step) {
    return absl::DataLossError(absl::StrCat(
        checkpoint_report_.resumed_from, " is of step ", manifest.step,
        ", but its shards have the marks of ", totals.batches, " batches"));
  }
  ledger_.SetEarlier(manifest.totals.mended, manifest.totals.recomputed,
                     manifest.totals.repeats_refused);
  resumed_batches_ = totals.batches;
  fraction_before_ = FractionDone();
  checkpoint_report_.resumed_samples = totals.trained + totals.rejected;
  progress_.OnTrained(checkpoint_report_.resumed_samples, now_);
  saver_.SetSaved(manifest.step, checkpoints.resume_name);
  if (const uint64_t every = checkpoints.save_steps; every != 0) {
    next_save_step_ = (totals.batches / every + 1) * every;
  }
  Log(LogLevel::kInfo,
      absl::StrCat("resumed from ", checkpoint_report_.resumed_from, ", step ",
                   manifest.step, ", epoch ", std::max(epochs, 1u), " of ",
                   options_.num_epochs, ", ", totals.trained,
                   " samples trained"));
  return absl::OkStatus();
}

}  // namespace shoal
