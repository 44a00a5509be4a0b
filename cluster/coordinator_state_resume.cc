// Where a job that begins from a checkpoint goes on.

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "cluster/coordinator_state.h"
#include "cluster/resume.h"

namespace shoal {
namespace {

// Pieces, or runs of marks, that are restored in one event. Few enough that a
// heartbeat need not wait for long, so many that few events are needed.
constexpr size_t kRestoredAtOnce = size_t{128} << 10;

}  // namespace

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
  const bool have = manifest_text_.text != nullptr &&
                    message.directory == manifest_directory_;
  Send(from, PartOf(message.directory,
                    have ? absl::string_view(*manifest_text_.text)
                         : absl::string_view(),
                    message.offset));
  return absl::OkStatus();
}

void CoordinatorState::AskForMarks() {
  if (!GoesOn()) return;
  const std::optional<MarkRunsRequest> request = loaded_.Ask();
  if (!request.has_value()) return;
  const Member* const ps = membership_.Find(Role::kPs, loaded_.source());
  if (ps != nullptr && ps->open()) Send(*ps, *request);
}

bool CoordinatorState::AllPsLoaded() const {
  return options_.checkpoints.resume == nullptr ||
         phase_ >= JobPhase::kTraining ||
         (loaded_.shards() == static_cast<size_t>(options_.num_ps) &&
          (loaded_.whole() || !options_.checkpoints.resume_training));
}

void CoordinatorState::OnPieceComplete(uint32_t epoch, uint32_t piece) {
  train_leases_.Complete(epoch, piece);
  complete_bytes_ +=
      train_facts_.piece(piece).end - train_facts_.piece(piece).begin;
}

void CoordinatorState::StartRestoring() {
  const absl::Status same =
      CheckSameData(options_.checkpoints.resume->data,
                    membership_.files().train(), train_facts_.pieces());
  if (!same.ok()) {
    End(same);
    return;
  }
  phase_ = JobPhase::kRestoring;
  restoring_.emplace().marks = loaded_.Take();
  ContinueRestoring();
}

void CoordinatorState::ContinueRestoring() {
  absl::Status status = RestoreSome();
  const bool more = restoring_->piece < train_facts_.size() ||
                    restoring_->run < restoring_->marks.size();
  if (status.ok() && more) {
    if (!std::exchange(continues_, true)) {
      actions_.emplace_back(ContinueAction{});
    }
    return;
  }
  if (status.ok()) status = FinishRestoring();
  restoring_.reset();
  if (status.ok()) {
    BeginTraining();
  } else {
    End(status);
  }
}

absl::Status CoordinatorState::RestoreSome() {
  size_t budget = kRestoredAtOnce;
  SHOAL_RETURN_IF_ERROR(RestorePieces(&budget));
  return budget == 0 ? absl::OkStatus() : RestoreMarks(budget);
}

absl::Status CoordinatorState::RestorePieces(size_t* budget) {
  const Manifest& manifest = *options_.checkpoints.resume;
  const auto end = static_cast<uint32_t>(
      std::min<size_t>(train_facts_.size(), restoring_->piece + *budget));
  *budget -= end - restoring_->piece;
  for (uint32_t& i = restoring_->piece; i < end; ++i) {
    const std::optional<SavedPieceFacts>& facts = manifest.data.pieces[i].facts;
    if (!facts.has_value()) continue;
    SHOAL_RETURN_IF_ERROR(train_facts_.Restore(i, *facts));
    SHOAL_ASSIGN_OR_RETURN(const std::vector<uint32_t> complete,
                           ledger_.SetExamples(i, facts->examples));
    for (const uint32_t epoch : complete) OnPieceComplete(epoch, i);
  }
  return absl::OkStatus();
}

absl::Status CoordinatorState::RestoreMarks(size_t budget) {
  const std::vector<MarkRun>& marks = restoring_->marks;
  size_t& begin = restoring_->run;
  size_t end = std::min(marks.size(), begin + budget);
  // All runs of a piece are restored at once.
  while (end < marks.size() && marks[end].epoch == marks[end - 1].epoch &&
         marks[end].piece == marks[end - 1].piece) {
    ++end;
  }
  const auto some = absl::MakeConstSpan(marks).subspan(begin, end - begin);
  for (const MarkRun& run : some) {
    if (run.epoch >= options_.num_epochs) {
      return absl::FailedPreconditionError(
          absl::StrCat("the checkpoint has batches of epoch ", run.epoch + 1,
                       ", and --num_epochs=", options_.num_epochs,
                       ": it may grow but not shrink"));
    }
    restoring_->epochs = std::max(restoring_->epochs, run.epoch + 1);
  }
  SHOAL_ASSIGN_OR_RETURN(const auto complete, ledger_.Restore(some));
  for (const auto& [epoch, piece] : complete) OnPieceComplete(epoch, piece);
  begin = end;
  return absl::OkStatus();
}

absl::Status CoordinatorState::FinishRestoring() {
  const CheckpointOptions& checkpoints = options_.checkpoints;
  const Manifest& manifest = *checkpoints.resume;
  const LedgerTotals& totals = ledger_.totals();
  if (totals.batches != manifest.step) {
    return absl::DataLossError(absl::StrCat(
        policy_.report().resumed_from, " is of step ", manifest.step,
        ", but its shards have the marks of ", totals.batches, " batches"));
  }
  ledger_.SetEarlier(manifest.totals.mended, manifest.totals.recomputed,
                     manifest.totals.repeats_refused);
  resumed_batches_ = totals.batches;
  fraction_before_ = FractionDone();
  const uint64_t samples = totals.trained + totals.rejected;
  progress_.OnTrained(samples, clock_.clock());
  saver_.SetSaved(manifest.step, checkpoints.resume_name);
  policy_.GoOnFrom(totals.batches, samples);
  Log(LogLevel::kInfo,
      absl::StrCat("resumed from ", policy_.report().resumed_from, ", step ",
                   manifest.step, ", epoch ", std::max(restoring_->epochs, 1u),
                   " of ", options_.num_epochs, ", ", totals.trained,
                   " samples trained"));
  return absl::OkStatus();
}

}  // namespace shoal
