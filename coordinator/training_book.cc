#include "coordinator/training_book.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "base/check.h"
#include "base/status_macros.h"
#include "cluster/lane_deal.h"
#include "cluster/resume.h"

namespace shoal {
namespace {

// Pieces, or runs of marks, that are restored in one event. Few enough that
// heartbeats do not wait for long, and enough that few events are needed.
constexpr size_t kRestoredAtOnce = size_t{128} << 10;

LedgerOptions LedgerOf(const TrainingBookOptions& options) {
  LedgerOptions ledger;
  ledger.num_members = options.num_members;
  ledger.num_epochs = options.leases.num_epochs;
  ledger.num_pieces = options.leases.num_pieces;
  ledger.batch_size = options.batch_size;
  return ledger;
}

}  // namespace

TrainingBook::TrainingBook(TrainingBookOptions options, PieceFacts pieces)
    : options_(std::move(options)), facts_(std::move(pieces)) {
  options_.leases.num_pieces = facts_.size();
  ledger_ = Ledger(LedgerOf(options_));
  if (options_.lanes.ranks.empty()) {
    leases_ = std::make_unique<LeaseTable>(options_.leases);
  } else {
    auto lanes = std::make_unique<LaneTable>(options_.leases, options_.lanes);
    lanes_ = lanes.get();
    leases_ = std::move(lanes);
  }
}

void TrainingBook::OnComplete(uint32_t epoch, uint32_t piece) {
  leases_->Complete(epoch, piece);
  complete_bytes_ += facts_.piece(piece).end - facts_.piece(piece).begin;
}

// ---- Going on from a checkpoint ---------------------------------------------

absl::Status TrainingBook::StartRestoring(
    std::shared_ptr<const Manifest> manifest, std::string path,
    const FileList& files, std::vector<MarkRun> marks) {
  SHOAL_RETURN_IF_ERROR(CheckSameData(manifest->data, files, facts_.pieces()));
  restoring_ =
      Restoring{std::move(manifest), std::move(path), std::move(marks)};
  return absl::OkStatus();
}

absl::StatusOr<bool> TrainingBook::Restore() {
  SHOAL_DCHECK(restoring_.has_value());
  size_t budget = kRestoredAtOnce;
  SHOAL_RETURN_IF_ERROR(RestorePieces(&budget));
  if (budget != 0) SHOAL_RETURN_IF_ERROR(RestoreMarks(budget));
  if (restoring_->piece < facts_.size() ||
      restoring_->run < restoring_->marks.size()) {
    return false;
  }
  SHOAL_RETURN_IF_ERROR(EndRestoring());
  return true;
}

absl::Status TrainingBook::RestorePieces(size_t* budget) {
  const std::vector<SavedPiece>& pieces = restoring_->manifest->data.pieces;
  const auto end = static_cast<uint32_t>(
      std::min<size_t>(facts_.size(), restoring_->piece + *budget));
  *budget -= end - restoring_->piece;
  for (uint32_t& i = restoring_->piece; i < end; ++i) {
    const std::optional<SavedPieceFacts>& facts = pieces[i].facts;
    if (!facts.has_value()) continue;
    SHOAL_RETURN_IF_ERROR(facts_.Restore(i, *facts));
    SHOAL_RETURN_IF_ERROR(Count(i));
  }
  return absl::OkStatus();
}

absl::Status TrainingBook::RestoreMarks(size_t budget) {
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
    if (run.epoch >= options_.leases.num_epochs) {
      return absl::FailedPreconditionError(
          absl::StrCat("the checkpoint has batches of epoch ", run.epoch + 1,
                       ", and --num_epochs=", options_.leases.num_epochs,
                       ": it may grow but not shrink"));
    }
    restored_epochs_ = std::max(restored_epochs_, run.epoch + 1);
  }
  SHOAL_ASSIGN_OR_RETURN(const auto complete, ledger_.Restore(some));
  for (const auto& [epoch, piece] : complete) OnComplete(epoch, piece);
  begin = end;
  return absl::OkStatus();
}

absl::Status TrainingBook::EndRestoring() {
  const Manifest& manifest = *restoring_->manifest;
  if (totals().batches != manifest.step) {
    return absl::DataLossError(absl::StrCat(
        restoring_->path, " is of step ", manifest.step,
        ", but its shards have the marks of ", totals().batches, " batches"));
  }
  ledger_.SetEarlier(manifest.totals.mended, manifest.totals.recomputed,
                     manifest.totals.repeats_refused);
  restored_batches_ = totals().batches;
  fraction_restored_ = FractionDone();
  restoring_.reset();
  return absl::OkStatus();
}

// ---- Training ---------------------------------------------------------------

absl::Status TrainingBook::Count(uint32_t piece) {
  SHOAL_DCHECK(facts_.known(piece));
  SHOAL_ASSIGN_OR_RETURN(const std::vector<uint32_t> complete,
                         ledger_.SetExamples(piece, facts_.examples(piece)));
  for (const uint32_t epoch : complete) OnComplete(epoch, piece);
  return absl::OkStatus();
}

absl::StatusOr<bool> TrainingBook::AddMark(int member, const Mark& mark,
                                           absl::Time now) {
  SHOAL_ASSIGN_OR_RETURN(const Ledger::Added added, ledger_.Add(member, mark));
  if (!added.fresh) return false;
  leases_->Progress(mark.lease, now);
  if (added.piece_complete) OnComplete(mark.batch.epoch, mark.batch.piece);
  return true;
}

bool TrainingBook::AtEndOfEpoch() const {
  const uint64_t epochs = CompleteEpochs();
  if (epochs == 0) return false;
  uint64_t batches = 0;  // of an epoch
  for (uint32_t i = 0; i < facts_.size(); ++i) batches += facts_.batches(i);
  return totals().batches == epochs * batches;
}

absl::Status TrainingBook::DealLanes(bool settled) {
  if (lanes_ == nullptr) return absl::OkStatus();
  const uint32_t epoch = CompleteEpochs();
  const bool mends = mending();
  const bool mended = mends_ != Mends::kNone && !mends && lanes_->ended();
  if (!lanes_->NeedsDeal(epoch, settled || mended)) {
    if (mended) mends_ = Mends::kNone;
    return absl::OkStatus();
  }
  mends_ = mends ? Mends::kDealt : Mends::kNone;
  return lanes_->Deal(epoch, mends ? AllButMends(epoch) : TrainedOf(epoch));
}

std::vector<PieceTrained> TrainingBook::AllButMends(uint32_t epoch) const {
  std::vector<PieceTrained> trained(facts_.size());
  for (PieceTrained& piece : trained) piece.complete = true;
  for (const auto& [of_epoch, piece] : HalfMarked()) {
    if (of_epoch != epoch) continue;
    std::vector<uint8_t> others = ledger_.AllButHalfMarked(epoch, piece);
    const auto batches = static_cast<uint32_t>(8 * others.size());
    trained[piece] = {false, std::move(others), batches};
  }
  return trained;
}

std::vector<PieceTrained> TrainingBook::TrainedOf(uint32_t epoch) const {
  std::vector<PieceTrained> trained(facts_.size());
  for (uint32_t i = 0; i < facts_.size(); ++i) {
    trained[i].complete = ledger_.PieceComplete(epoch, i);
    trained[i].batches = ledger_.CompleteBatches(epoch, i);
    if (facts_.known(i)) trained[i].num_batches = facts_.batches(i);
  }
  return trained;
}

void TrainingBook::Regroup(std::vector<LaneRank> ranks) {
  SHOAL_DCHECK(lanes_ != nullptr);
  lanes_->Regroup(std::move(ranks));
  mends_ = Mends::kDue;
}

void TrainingBook::RemoveMember(int member) {
  for (const auto& [epoch, piece] : ledger_.RemoveMember(member)) {
    OnComplete(epoch, piece);
  }
}

std::vector<int> TrainingBook::open_lanes() const {
  return lanes_ == nullptr ? std::vector<int>() : lanes_->open_lanes();
}

double TrainingBook::FractionDone() const {
  const double all =
      static_cast<double>(facts_.bytes()) * options_.leases.num_epochs;
  if (all == 0) return 0;
  double done = static_cast<double>(complete_bytes_);
  std::set<std::pair<uint32_t, uint32_t>> counted;  // ranks may share a piece
  for (const HeldLease& held : leases_->held()) {
    if (held.copy) continue;
    if (!counted.insert({held.epoch, held.piece}).second) continue;
    const Piece& piece = facts_.piece(held.piece);
    done += static_cast<double>(piece.end - piece.begin) *
            ledger_.FractionComplete(held.epoch, held.piece);
  }
  return std::min(1.0, done / all);
}

Lease TrainingBook::LeaseOf(const HeldLease& held) const {
  Lease lease;
  lease.purpose = LeasePurpose::kTrain;
  lease.epoch = held.epoch;
  lease.piece = facts_.piece(held.piece);
  lease.skip = ledger_.CompleteBatches(held.epoch, held.piece);
  lease.rejected = ledger_.HalfRejected(held.epoch, held.piece);
  lease.backwards = held.copy;
  if (mends_ == Mends::kDealt) {
    lease.skip = ledger_.AllButHalfMarked(held.epoch, held.piece);
    lease.skip_rest = true;
  }
  if (lanes_ != nullptr) lanes_->Shape(held.number, &lease);
  return lease;
}

Lease TrainingBook::MendOf(uint32_t epoch, uint32_t piece) const {
  Lease lease;
  lease.purpose = LeasePurpose::kTrain;
  lease.epoch = epoch;
  lease.piece = facts_.piece(piece);
  lease.skip = ledger_.AllButHalfMarked(epoch, piece);
  lease.skip_rest = true;
  lease.rejected = ledger_.HalfRejected(epoch, piece);
  return lease;
}

void TrainingBook::SaveInto(Manifest* manifest) const {
  const LedgerTotals& totals = ledger_.totals();
  manifest->step = totals.batches;
  manifest->data.batch_size = options_.batch_size;
  manifest->data.num_epochs = options_.leases.num_epochs;
  manifest->data.pieces.reserve(facts_.size());
  for (uint32_t i = 0; i < facts_.size(); ++i) {
    const Piece& piece = facts_.piece(i);
    SavedPiece saved{piece.source, piece.begin, piece.end, std::nullopt};
    if (facts_.known(i)) saved.facts = facts_.facts(i);
    manifest->data.pieces.push_back(std::move(saved));
  }
  manifest->totals = {totals.trained,        totals.rejected,
                      totals.batches,        totals.rejected_batches,
                      totals.mended,         totals.recomputed,
                      totals.repeats_refused};
}

void TrainingBook::Fill(JobReport* report) const {
  const LedgerTotals& totals = ledger_.totals();
  report->samples = facts_.examples() * options_.leases.num_epochs;
  report->fraction_before = fraction_restored_;
  report->trained = totals.trained;
  report->rejected = totals.rejected;
  report->batches = totals.batches;
  report->mended = totals.mended;
  report->recomputed = totals.recomputed;
  report->repeats_refused = totals.repeats_refused;
  report->epoch =
      std::min(ledger_.CompleteEpochs(), options_.leases.num_epochs - 1);
}

}  // namespace shoal
