#include "cluster/ledger.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status_macros.h"
#include "core/registration.h"

namespace shoal {
namespace {

// More batches than any piece has.
constexpr uint32_t kMaxBatchesOfPiece = 1u << 24;

const char* Did(Verdict verdict) {
  return verdict == Verdict::kRejected ? "rejected" : "applied";
}

}  // namespace

Ledger::Ledger(LedgerOptions options)
    : options_(options),
      all_pieces_(uint64_t{options.num_epochs} * options.num_pieces),
      examples_(options.num_pieces),
      repeats_refused_(options.num_members),
      marked_(options.num_members) {
  for (int member = 0; member < options.num_members; ++member) {
    members_.push_back(member);
  }
}

int Ledger::ColumnOf(int member) const {
  const auto it = std::find(members_.begin(), members_.end(), member);
  return it == members_.end() ? -1 : static_cast<int>(it - members_.begin());
}

int Ledger::MemberOf(int column) const {
  return members_[static_cast<size_t>(column)];
}

uint64_t Ledger::MarkedBy(int member) const {
  return ColumnOf(member) < 0 ? 0 : marked_[static_cast<size_t>(member)];
}

uint32_t Ledger::Batches(uint32_t piece) const {
  SHOAL_DCHECK(Known(piece));
  return static_cast<uint32_t>((*examples_[piece] + options_.batch_size - 1) /
                               options_.batch_size);
}

Ledger::Entry& Ledger::Open(Key key) {
  return open_.try_emplace(key, Entry{PieceMarks(Columns())})
      .first->second;
}

const Ledger::Entry* Ledger::FindOpen(Key key) const {
  const auto it = open_.find(key);
  return it == open_.end() ? nullptr : &it->second;
}

absl::Status Ledger::Validate(int member, const Mark& mark) const {
  const BatchId& batch = mark.batch;
  const auto who = [&] {
    return absl::StrCat(ProcessName(Role::kPs, member), "'s mark of batch ",
                        ToString(batch), ", lease ", mark.lease);
  };
  if (ColumnOf(member) < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(who(), ": there is no such server"));
  }
  if (batch.epoch >= options_.num_epochs ||
      batch.piece >= options_.num_pieces || batch.index >= kMaxBatchesOfPiece) {
    return absl::NotFoundError(absl::StrCat(who(), ": there is no such batch"));
  }
  if (mark.lease == 0 || mark.lease > kUnknownLease) {
    return absl::InvalidArgumentError(
        absl::StrCat(who(), ": there is no such lease"));
  }
  if (mark.verdict != Verdict::kApplied && mark.verdict != Verdict::kRejected) {
    return absl::InvalidArgumentError(absl::StrCat(
        who(), ": unknown verdict ", static_cast<int>(mark.verdict)));
  }
  if (Known(batch.piece) && batch.index >= Batches(batch.piece)) {
    return absl::DataLossError(
        absl::StrCat(who(), ": the piece has only ", Batches(batch.piece),
                     " batches; did its file change while the job runs?"));
  }
  return absl::OkStatus();
}

absl::StatusOr<Ledger::Added> Ledger::Add(int member, const Mark& mark) {
  SHOAL_RETURN_IF_ERROR(Validate(member, mark));
  return mark.repeat ? AddRepeat(member, mark) : AddFresh(member, mark);
}

absl::StatusOr<Ledger::Added> Ledger::AddRepeat(int member, const Mark& mark) {
  const Key key{mark.batch.epoch, mark.batch.piece};
  const uint32_t i = mark.batch.index;
  if (PieceComplete(key.first, key.second)) {
    Entry& entry =
        settled_.try_emplace(key, Entry{PieceMarks(Columns())})
            .first->second;
    totals_.recomputed += entry.marks.SetRecomputed(i);
    return Added{};
  }
  const auto it = open_.find(key);
  const int column = ColumnOf(member);
  if (it == open_.end() || !it->second.marks.Marked(column, i)) {
    return absl::InvalidArgumentError(
        absl::StrCat(ProcessName(Role::kPs, member),
                     " refused a repeat of a batch it has not marked: ",
                     ToString(mark.batch)));
  }
  PieceMarks& marks = it->second.marks;
  if (marks.PassOf(column, i) != mark.lease) {
    totals_.recomputed += marks.SetRecomputed(i);
  }
  return Added{};
}

absl::StatusOr<Ledger::Added> Ledger::AddFresh(int member, const Mark& mark) {
  const Key key{mark.batch.epoch, mark.batch.piece};
  const uint32_t i = mark.batch.index;
  const int column = ColumnOf(member);
  const Entry* const known = FindOpen(key);
  if (PieceComplete(key.first, key.second) ||
      (known != nullptr && known->marks.Marked(column, i))) {
    return absl::InvalidArgumentError(
        absl::StrCat(ProcessName(Role::kPs, member),
                     " marked a batch twice: ", ToString(mark.batch)));
  }
  const bool rejected = mark.verdict == Verdict::kRejected;
  const std::optional<int> other =
      known == nullptr ? std::nullopt
                       : known->marks.ColumnOfOtherVerdict(i, rejected);
  if (other.has_value()) {
    return absl::DataLossError(absl::StrCat(
        "batch ", ToString(mark.batch),
        " is torn: ", ProcessName(Role::kPs, member), " has ",
        Did(mark.verdict), " it, ",
        ProcessName(Role::kPs, MemberOf(*other)), " has ",
        Did(rejected ? Verdict::kApplied : Verdict::kRejected), " it"));
  }
  Entry& entry = Open(key);
  const PieceMarks::Added added =
      entry.marks.Add(column, i, rejected, static_cast<uint32_t>(mark.lease));
  ++marked_[static_cast<size_t>(member)];
  if (added.mended) {
    ++totals_.mended;
    totals_.recomputed += entry.marks.SetRecomputed(i);
  }
  if (added.by_all) {
    ++totals_.batches;
    totals_.rejected_batches += rejected;
  }
  Recount(key.second, entry);
  return Added{.fresh = true, .piece_complete = Settle(key)};
}

Ledger::Examples Ledger::Count(uint32_t piece, const PieceMarks& marks) const {
  const uint64_t full = options_.batch_size;
  Examples count;
  count.rejected = marks.complete_rejected() * full;
  count.trained = marks.complete() * full - count.rejected;
  // The last batch is shorter, and the newest batch of an open piece may be the
  // last.
  if (marks.end() != 0 && marks.MarkedByAll(marks.end() - 1)) {
    uint64_t too_much = 0;
    if (!Known(piece)) {
      too_much = full;
      count.newest = full;
    } else if (marks.end() == Batches(piece)) {
      too_much = Batches(piece) * full - *examples_[piece];
    }
    (marks.Rejected(marks.end() - 1) ? count.rejected : count.trained) -=
        too_much;
  }
  return count;
}

void Ledger::Recount(uint32_t piece, Entry& entry) {
  const Examples count = Count(piece, entry.marks);
  for (const auto& [total, part] :
       {std::pair{&LedgerTotals::trained, &Examples::trained},
        std::pair{&LedgerTotals::rejected, &Examples::rejected},
        std::pair{&LedgerTotals::newest, &Examples::newest}}) {
    totals_.*total += count.*part - entry.examples.*part;
  }
  entry.examples = count;
}

void Ledger::SetComplete(Key key) {
  const auto [epoch, piece] = key;
  std::vector<bool>& flags = complete_[epoch];
  flags.resize(options_.num_pieces);
  flags[piece] = true;
  ++complete_pieces_;
  ++complete_in_epoch_[epoch];
  while (complete_epochs_ < options_.num_epochs &&
         complete_in_epoch_[complete_epochs_] == options_.num_pieces) {
    ++complete_epochs_;
  }
}

bool Ledger::Settle(Key key) {
  const uint32_t piece = key.second;
  const auto it = open_.find(key);
  const uint32_t complete = it == open_.end() ? 0 : it->second.marks.complete();
  if (!Known(piece) || complete != Batches(piece)) return false;
  SetComplete(key);
  if (it == open_.end()) return true;
  it->second.marks.Settle();
  if (!it->second.marks.empty()) settled_.emplace(key, std::move(it->second));
  open_.erase(it);
  return true;
}

void Ledger::SetRepeatsRefused(int member, uint64_t count) {
  if (member < 0 || member >= options_.num_members) return;
  totals_.repeats_refused += count - repeats_refused_[member];
  repeats_refused_[member] = count;
}

absl::StatusOr<std::vector<uint32_t>> Ledger::SetExamples(uint32_t piece,
                                                          uint64_t examples) {
  examples_[piece] = examples;
  std::vector<uint32_t> complete;
  if (open_.empty() && examples != 0) return complete;
  for (uint32_t epoch = 0; epoch < options_.num_epochs; ++epoch) {
    const Key key{epoch, piece};
    const auto it = open_.find(key);
    if (it != open_.end()) {
      if (it->second.marks.end() > Batches(piece)) {
        return absl::DataLossError(absl::StrCat(
            "piece ", piece, " has ", Batches(piece), " batches, but batch ",
            ToString(BatchId{epoch, piece, it->second.marks.end() - 1}),
            " is marked; did its file change while the job runs?"));
      }
      Recount(piece, it->second);
    } else if (examples != 0) {
      continue;
    }
    if (Settle(key)) complete.push_back(epoch);
  }
  return complete;
}

absl::StatusOr<std::vector<std::pair<uint32_t, uint32_t>>> Ledger::Restore(
    absl::Span<const MarkRun> marks) {
  std::vector<Key> complete;
  for (size_t begin = 0; begin < marks.size();) {
    const Key key{marks[begin].epoch, marks[begin].piece};
    size_t end = begin + 1;
    while (end < marks.size() &&
           Key{marks[end].epoch, marks[end].piece} == key) {
      ++end;
    }
    SHOAL_ASSIGN_OR_RETURN(const bool whole,
                           RestorePiece(marks.subspan(begin, end - begin)));
    if (whole) complete.push_back(key);
    begin = end;
  }
  return complete;
}

absl::StatusOr<bool> Ledger::RestorePiece(absl::Span<const MarkRun> runs) {
  const Key key{runs[0].epoch, runs[0].piece};
  uint64_t from = 0;
  for (const MarkRun& run : runs) {
    if (run.begin < from || run.begin >= run.end) {
      return absl::InvalidArgumentError(
          absl::StrCat("the marks of epoch ", run.epoch, ", piece ", run.piece,
                       " that were loaded, batches ", run.begin, " to ",
                       run.end, ", are out of order"));
    }
    from = run.end;
    Mark last;
    last.batch = {run.epoch, run.piece,
                  static_cast<uint32_t>(
                      std::min<uint64_t>(run.end - 1, kMaxBatchesOfPiece))};
    last.verdict = run.verdict;
    last.lease = kUnknownLease;
    SHOAL_RETURN_IF_ERROR(Validate(MemberOf(0), last));
  }
  if (PieceComplete(key.first, key.second) || FindOpen(key) != nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("the marks of epoch ", key.first, ", piece ", key.second,
                     " were restored twice"));
  }
  Entry entry{PieceMarks(Columns())};
  const MarkRun& first = runs[0];
  const bool plain = runs.size() == 1 && first.begin == 0 &&
                     first.verdict == Verdict::kApplied && Known(key.second) &&
                     first.end == Batches(key.second);
  if (plain) {  // as nearly all are
    totals_.batches += first.end;
    for (uint64_t& marked : marked_) marked += first.end;
    totals_.trained += *examples_[key.second];
    SetComplete(key);
    return true;
  }
  for (const MarkRun& run : runs) {
    entry.marks.AddRun(static_cast<uint32_t>(run.begin),
                       static_cast<uint32_t>(run.end),
                       run.verdict == Verdict::kRejected);
  }
  totals_.batches += entry.marks.complete();
  for (uint64_t& marked : marked_) marked += entry.marks.complete();
  totals_.rejected_batches += entry.marks.complete_rejected();
  Recount(key.second, entry);
  open_.emplace(key, std::move(entry));
  return Settle(key);
}

void Ledger::SetEarlier(uint64_t mended, uint64_t recomputed,
                        uint64_t repeats_refused) {
  totals_.mended += mended;
  totals_.recomputed += recomputed;
  totals_.repeats_refused += repeats_refused;
}

std::vector<std::pair<uint32_t, uint32_t>> Ledger::DropMember(int member) {
  std::vector<Key> reopened;
  const int column = ColumnOf(member);
  if (column < 0) return reopened;
  marked_[static_cast<size_t>(member)] = 0;
  for (auto& [epoch, flags] : complete_) {
    for (uint32_t piece = 0; piece < flags.size(); ++piece) {
      if (!flags[piece] || Batches(piece) == 0) continue;
      flags[piece] = false;
      --complete_pieces_;
      --complete_in_epoch_[epoch];
      complete_epochs_ = std::min(complete_epochs_, epoch);
      const Key key{epoch, piece};
      reopened.push_back(key);
      // Makes the details anew; which passes made the marks is forgotten.
      Entry entry{PieceMarks(Columns())};
      if (const auto kept = settled_.find(key); kept != settled_.end()) {
        entry = std::move(kept->second);
        settled_.erase(kept);
      }
      entry.marks.Unsettle(Batches(piece));
      entry.examples = Count(piece, entry.marks);
      open_.insert_or_assign(key, std::move(entry));
    }
  }
  for (auto& [key, entry] : open_) {
    const PieceMarks::Dropped dropped = entry.marks.DropColumn(column);
    totals_.batches -= dropped.batches;
    totals_.rejected_batches -= dropped.rejected;
    Recount(key.second, entry);
  }
  return reopened;
}

std::vector<std::pair<uint32_t, uint32_t>> Ledger::RemoveMember(
    int member) {
  std::vector<Key> complete;
  const int column = ColumnOf(member);
  if (column < 0 || members_.size() == 1) return complete;
  members_.erase(members_.begin() + column);
  for (auto& [key, entry] : settled_) entry.marks.RemoveColumn(column);
  std::vector<Key> open;
  for (auto& [key, entry] : open_) {
    const PieceMarks::Removed removed = entry.marks.RemoveColumn(column);
    totals_.batches += removed.batches;
    totals_.rejected_batches += removed.rejected;
    Recount(key.second, entry);
    open.push_back(key);
  }
  for (const Key& key : open) {
    if (Settle(key)) complete.push_back(key);
  }
  return complete;
}

uint32_t Ledger::CompleteEpochs() const {
  return options_.num_pieces == 0 ? options_.num_epochs : complete_epochs_;
}

bool Ledger::Complete(const BatchId& batch) const {
  if (PieceComplete(batch.epoch, batch.piece)) {
    return batch.index < Batches(batch.piece);
  }
  const Entry* const entry = FindOpen({batch.epoch, batch.piece});
  return entry != nullptr && entry->marks.MarkedByAll(batch.index);
}

bool Ledger::PieceComplete(uint32_t epoch, uint32_t piece) const {
  const auto it = complete_.find(epoch);
  return it != complete_.end() && piece < it->second.size() &&
         it->second[piece];
}

std::vector<uint8_t> Ledger::CompleteBatches(uint32_t epoch,
                                             uint32_t piece) const {
  const Entry* const entry = FindOpen({epoch, piece});
  return entry == nullptr ? std::vector<uint8_t>{}
                          : entry->marks.CompleteBits();
}

std::vector<std::pair<uint32_t, uint32_t>> Ledger::HalfMarked() const {
  std::vector<Key> pieces;
  for (const auto& [key, entry] : open_) {
    if (entry.marks.half_marked() != 0) pieces.push_back(key);
  }
  std::sort(pieces.begin(), pieces.end());
  return pieces;
}

std::vector<uint8_t> Ledger::AllButHalfMarked(uint32_t epoch,
                                              uint32_t piece) const {
  const Entry* const entry = FindOpen({epoch, piece});
  return entry == nullptr ? std::vector<uint8_t>{}
                          : entry->marks.AllButHalfMarkedBits();
}

std::vector<uint8_t> Ledger::HalfRejected(uint32_t epoch,
                                          uint32_t piece) const {
  const Entry* const entry = FindOpen({epoch, piece});
  return entry == nullptr ? std::vector<uint8_t>{}
                          : entry->marks.HalfRejectedBits();
}

double Ledger::FractionComplete(uint32_t epoch, uint32_t piece) const {
  if (PieceComplete(epoch, piece)) return 1;
  const Entry* const entry = FindOpen({epoch, piece});
  if (entry == nullptr || !Known(piece)) return 0;
  return static_cast<double>(entry->marks.complete()) / Batches(piece);
}

}  // namespace shoal
