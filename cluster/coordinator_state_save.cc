// Checkpoints: when to save one, and what the saver's actions mean.

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "checkpoint/checkpoint_directory.h"
#include "cluster/coordinator_state.h"

namespace shoal {
namespace {

// That wait for one checkpoint.
constexpr size_t kSaveRequestsMax = 64;

}  // namespace

// ---- Events -----------------------------------------------------------------

CoordinatorActions CoordinatorState::RequestSave(uint64_t request,
                                                 absl::Time now) {
  clock_.Advance(now);
  absl::Status refused;
  if (!options_.checkpoints.save) {
    refused = absl::FailedPreconditionError(
        "the job writes no checkpoints: it was started without --model_dir");
  } else if (phase_ < JobPhase::kTraining) {
    refused = absl::FailedPreconditionError(
        "nothing has been trained yet: the job waits for its processes");
  } else if (phase_ >= JobPhase::kReporting) {
    refused = absl::FailedPreconditionError("the job is ending");
  } else if (saver_.late()) {
    refused = absl::FailedPreconditionError(late_);
  } else if (save_requests_.size() >= kSaveRequestsMax) {
    refused = absl::ResourceExhaustedError(absl::StrCat(
        kSaveRequestsMax, " requests wait for the next checkpoint already"));
  }
  if (refused.ok()) {
    save_requests_.push_back(request);
  } else {
    actions_.emplace_back(SaveReplyAction{request, refused});
  }
  return TakeActions();
}

CoordinatorActions CoordinatorState::SaveAndStop(const absl::Status& reason,
                                                 absl::Time now) {
  clock_.Advance(now);
  StopOnceSaved(reason);
  return TakeActions();
}

void CoordinatorState::StopOnceSaved(const absl::Status& reason) {
  const bool can_save = options_.checkpoints.save &&
                        phase_ >= JobPhase::kTraining &&
                        phase_ < JobPhase::kReporting;
  if (!can_save) {
    End(reason);
  } else if (!stop_reason_.has_value()) {
    stop_reason_ = reason;
    stop_deadline_ = clock_.now() + options_.checkpoints.stop_deadline;
    saver_.Hurry(stop_deadline_);
    Log(LogLevel::kWarn,
        absl::StrCat(reason.message(), "; saving a checkpoint first"));
  }
}

CoordinatorActions CoordinatorState::OnCommitted(
    uint64_t number, absl::StatusOr<ManifestText> manifest, absl::Time now) {
  clock_.Advance(now);
  if (manifest.ok()) {
    manifest_directory_ = committing_directory_;
    manifest_text_ = *manifest;
  }
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
  StopOnceSaved(message.reason);
  return absl::OkStatus();
}

// ---- Saving -----------------------------------------------------------------

void CoordinatorState::DriveSaver(
    absl::FunctionRef<SaverActions(const CheckpointSaver::View&)> use) {
  // While training goes on the saver does not ask, and every mark comes here.
  std::vector<std::pair<uint32_t, uint32_t>> half_marked;
  if (saver_.withholds()) half_marked = ledger_.HalfMarked();
  CheckpointSaver::View view;
  view.ps = membership_.Open(Role::kPs);
  view.workers = membership_.Open(Role::kWorker);
  view.num_ps = static_cast<size_t>(options_.num_ps);
  view.step = ledger_.totals().batches;
  view.half_marked = half_marked;
  Perform(use(view));
}

void CoordinatorState::StepSave() {
  if (!options_.checkpoints.save) return;
  if (phase_ < JobPhase::kTraining || phase_ > JobPhase::kReporting) return;
  if (saver_.busy()) {
    DriveSaver([this](const CheckpointSaver::View& view) {
      return saver_.Step(view, clock_.now());
    });
    if (phase_ < JobPhase::kReporting && saver_.late()) EndWithoutDisk();
  }
  if (saver_.busy() || phase_ >= JobPhase::kReporting) return;
  const uint64_t step = ledger_.totals().batches;
  const bool due = next_save_step_ != 0 && step >= next_save_step_;
  if (due || !save_requests_.empty() || stop_reason_.has_value()) BeginSave();
}

void CoordinatorState::BeginSave() {
  being_saved_ = std::exchange(save_requests_, {});
  DriveSaver([this](const CheckpointSaver::View& view) {
    return saver_.Begin(
        view,
        stop_reason_.has_value() ? stop_deadline_ : absl::InfiniteFuture(),
        clock_.now());
  });
}

bool CoordinatorState::SavedAtEnd() {
  if (!options_.checkpoints.save || saved_at_end_) return true;
  if (saver_.busy()) {
    if (!end_due_.has_value()) end_due_ = clock_.now();
    return false;
  }
  BeginSave();
  return saved_at_end_ && phase_ == JobPhase::kTraining;
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
      OnLate(*late);
    } else if (auto* commit = std::get_if<SaverCommit>(&action)) {
      Commit(*commit);
    } else if (auto* done = std::get_if<SaverDone>(&action)) {
      OnSaveDone(*done);
    }
  }
}

void CoordinatorState::Mend(const SaverMend& mend) {
  const FileList& files = membership_.files().train();
  const Piece piece = train_facts_.piece(mend.piece);
  for (const Member& worker : membership_.Open(Role::kWorker)) {
    if (worker.suspended) continue;
    if (!files.hosts.empty() && files.hosts[piece.source] != worker.index) {
      continue;
    }
    Lease lease;
    lease.number = next_lease_++;
    lease.purpose = LeasePurpose::kTrain;
    lease.epoch = mend.epoch;
    lease.piece = piece;
    lease.piece.source = files.LocalIndex(piece.source);
    lease.batch_size = options_.batch_size;
    lease.skip = ledger_.AllButHalfMarked(mend.epoch, mend.piece);
    lease.skip_rest = true;
    lease.rejected = ledger_.HalfRejected(mend.epoch, mend.piece);
    saver_.OnMendGranted(mend, lease.number, worker.life);
    Log(LogLevel::kInfo,
        absl::StrCat(worker.Name(), " trains batches of ",
                     train_facts_.Name(mend.piece),
                     " that not every shard has, before they are saved"));
    Send(worker, LeaseGrant{std::move(lease)});
    return;
  }
}

void CoordinatorState::Commit(SaverCommit& commit) {
  Manifest manifest = std::exchange(cut_, {});
  absl::Status status;
  for (size_t k = 0; k < commit.entries.size(); ++k) {
    auto entry = ShardEntryFromText(commit.entries[k]);
    status.Update(
        Annotate(entry.status(), ProcessName(Role::kPs, static_cast<int>(k))));
    if (entry.ok()) manifest.shards.push_back(*std::move(entry));
  }
  if (status.ok()) status = ValidateManifest(manifest);
  if (!status.ok()) {
    // Taken at the next step of the saver.
    saver_.OnCommitted(commit.number, status, {});
    return;
  }
  committing_directory_ = commit.directory;
  actions_.emplace_back(CommitAction{commit.number, std::move(commit.directory),
                                     std::move(manifest)});
}

void CoordinatorState::TakeCut(const SaverCut& cut) {
  Manifest& manifest = cut_ = Manifest();
  const LedgerTotals& totals = ledger_.totals();
  cut_step_ = totals.batches;
  manifest.step = totals.batches;
  manifest.time = clock_.clock();
  manifest.job = options_.job;
  manifest.attempt = cut.attempt;
  manifest.start = options_.start;
  manifest.config = options_.config;
  manifest.model = options_.checkpoints.model;
  manifest.map = options_.checkpoints.map;
  manifest.data.batch_size = options_.batch_size;
  manifest.data.num_epochs = options_.num_epochs;
  manifest.data.sources = membership_.files().train().files;
  manifest.data.hosts = membership_.files().train().hosts;
  manifest.data.pieces.reserve(train_facts_.size());
  for (uint32_t i = 0; i < train_facts_.size(); ++i) {
    const Piece& piece = train_facts_.piece(i);
    SavedPiece saved{piece.source, piece.begin, piece.end, std::nullopt};
    if (train_facts_.known(i)) saved.facts = train_facts_.facts(i);
    manifest.data.pieces.push_back(std::move(saved));
  }
  manifest.totals = {totals.trained,        totals.rejected,
                     totals.batches,        totals.rejected_batches,
                     totals.mended,         totals.recomputed,
                     totals.repeats_refused};
}

void CoordinatorState::OnReleased() {
  // Training stood still: no process is late for that.
  clock_.SeeProgress();
  for (LeaseTable* table : {&train_leases_, &eval_leases_}) {
    for (const LeaseTable::Held& held : table->held()) {
      table->Progress(held.number, clock_.now());
    }
  }
}

void CoordinatorState::OnLate(const SaverLate& late) {
  late_ = absl::StrCat(
      "the checkpoint at step ", late.step, ", begun ",
      absl::FormatDuration(absl::Trunc(late.began, absl::Milliseconds(1))),
      " ago, still waits for ", late.waiting_for);
  const bool trains = !saver_.withholds() && !ledger_.AllComplete();
  Log(LogLevel::kWarn,
      absl::StrCat(late_, ": does the disk hang?",
                   trains ? " Training goes on, and no other checkpoint begins "
                            "before that is over"
                          : ""));
  for (const uint64_t request : std::exchange(being_saved_, {})) {
    actions_.emplace_back(SaveReplyAction{
        request, absl::DeadlineExceededError(absl::StrCat(
                     late_, "; whether it becomes one is not decided"))});
  }
  for (const uint64_t request : std::exchange(save_requests_, {})) {
    actions_.emplace_back(
        SaveReplyAction{request, absl::FailedPreconditionError(late_)});
  }
}

void CoordinatorState::EndWithoutDisk() {
  if (stop_reason_.has_value() && clock_.now() >= stop_deadline_) {
    End(absl::AbortedError(absl::StrCat(
        stop_reason_->message(),
        "; what was trained since the last checkpoint is lost: ", late_)));
    return;
  }
  if (!ledger_.AllComplete() || saved_at_end_) return;
  const bool is_last = cut_step_ == ledger_.totals().batches;
  const bool waited = end_due_.has_value() &&
                      clock_.now() >= *end_due_ + options_.checkpoints.deadline;
  if (!is_last && !waited) return;
  saved_at_end_ = true;
  end_save_status_ = absl::DeadlineExceededError(
      absl::StrCat("everything was trained, but it is not saved: ", late_));
}

void CoordinatorState::OnSaveDone(const SaverDone& done) {
  // Training may have gone on since the cut.
  const uint64_t trained = ledger_.totals().batches;
  const uint64_t step =
      std::exchange(cut_step_, std::nullopt).value_or(trained);
  cut_ = {};
  if (const uint64_t every = options_.checkpoints.save_steps; every != 0) {
    next_save_step_ = ((done.status.ok() ? step : trained) / every + 1) * every;
  }
  CheckpointReport& report = checkpoint_report_;
  const std::string path =
      absl::StrCat(options_.checkpoints.model_dir, "/", done.directory);
  report.all_seconds += absl::ToDoubleSeconds(done.took);
  if (!done.status.ok()) {
    ++report.voided;
    report.last_error = std::string(done.status.message());
    Log(LogLevel::kWarn,
        absl::StrCat("the checkpoint at step ", step,
                     " is void: ", done.status.message(),
                     !report.path.empty()
                         ? absl::StrCat("; the newest is ", report.path)
                     : !report.resumed_from.empty()
                         ? absl::StrCat("; the newest is ", report.resumed_from)
                         : "; there is none yet"));
  } else if (done.fresh) {
    ++report.saved;
    report.path = path;
    report.step = done.step;
    report.seconds = absl::ToDoubleSeconds(done.took);
    Log(LogLevel::kInfo, absl::StrCat("saved ", path, " at step ", done.step,
                                      "; training stood still for ",
                                      absl::FormatDuration(absl::Trunc(
                                          done.took, absl::Milliseconds(1)))));
  }
  for (const uint64_t request : std::exchange(being_saved_, {})) {
    actions_.emplace_back(SaveReplyAction{
        request, done.status.ok() ? absl::StatusOr<SavedCheckpoint>(
                                        SavedCheckpoint{path, done.step})
                                  : done.status});
  }
  // Otherwise what was trained since is saved next, or waits for it.
  if (step != trained) return;
  if (ledger_.AllComplete()) {
    saved_at_end_ = true;
    end_save_status_ = Annotate(
        done.status, "everything was trained, but its checkpoint is void");
  }
  if (!stop_reason_.has_value()) return;
  if (done.status.ok()) {
    End(absl::Status(
        stop_reason_->code(),
        absl::StrCat(stop_reason_->message(), "; saved ", path, " at step ",
                     done.step, ", from where the same command goes on")));
  } else {
    End(absl::AbortedError(absl::StrCat(stop_reason_->message(),
                                        "; what was trained since the last "
                                        "checkpoint is lost: ",
                                        done.status.message())));
  }
}

void CoordinatorState::EndSaves() {
  const std::string why = saver_.late()
                              ? absl::StrCat("the job is ending: ", late_)
                              : "the job is ending";
  Perform(saver_.Void(absl::FailedPreconditionError(why), clock_.now()));
  for (const uint64_t request : std::exchange(save_requests_, {})) {
    actions_.emplace_back(SaveReplyAction{
        request, absl::FailedPreconditionError("the job is ending")});
  }
}

}  // namespace shoal
