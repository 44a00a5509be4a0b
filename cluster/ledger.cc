#include "cluster/ledger.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace shoal {
namespace {

constexpr uint32_t kUnmarked = 0;
constexpr uint32_t kPassUnknown = Ledger::kUnknownLease;
// Bounds what a wrong index in a mark can make us allocate.
constexpr uint32_t kMaxBatchesOfPiece = 1u << 24;

const char* Did(Verdict verdict) {
  return verdict == Verdict::kRejected ? "rejected" : "applied";
}

}  // namespace

Ledger::Ledger(LedgerOptions options)
    : options_(options),
      all_pieces_(uint64_t{options.num_epochs} * options.num_pieces),
      examples_(options.num_pieces),
      repeats_refused_(options.num_shards) {}

uint32_t Ledger::Batches(uint32_t piece) const {
  return static_cast<uint32_t>((*examples_[piece] + options_.batch_size - 1) /
                               options_.batch_size);
}

absl::Status Ledger::Validate(int shard, const Mark& mark) const {
  const BatchId& batch = mark.batch;
  const std::string who =
      absl::StrCat(ProcessName(Role::kPs, shard), "'s mark of batch ",
                   ToString(batch), ", lease ", mark.lease);
  if (shard < 0 || shard >= options_.num_shards) {
    return absl::InvalidArgumentError(
        absl::StrCat(who, ": there is no such shard"));
  }
  if (batch.epoch >= options_.num_epochs ||
      batch.piece >= options_.num_pieces || batch.index >= kMaxBatchesOfPiece) {
    return absl::NotFoundError(absl::StrCat(who, ": there is no such batch"));
  }
  if (mark.lease == kUnmarked || mark.lease > kUnknownLease) {
    return absl::InvalidArgumentError(
        absl::StrCat(who, ": there is no such lease"));
  }
  if (mark.verdict != Verdict::kApplied && mark.verdict != Verdict::kRejected) {
    return absl::InvalidArgumentError(absl::StrCat(
        who, ": unknown verdict ", static_cast<int>(mark.verdict)));
  }
  if (Known(batch.piece) && batch.index >= Batches(batch.piece)) {
    return absl::DataLossError(
        absl::StrCat(who, ": the piece has only ", Batches(batch.piece),
                     " batches; did its file change while the job runs?"));
  }
  return absl::OkStatus();
}

absl::StatusOr<Ledger::Added> Ledger::Add(int shard, const Mark& mark) {
  SHOAL_RETURN_IF_ERROR(Validate(shard, mark));
  const BatchId& batch = mark.batch;
  const Key key{batch.epoch, batch.piece};
  const uint32_t i = batch.index;
  const bool all_marked = PieceComplete(batch.epoch, batch.piece);
  Entry& entry = entries_[key];
  if (!all_marked && i >= entry.shards.size()) {
    entry.shards.resize(i + 1);
    entry.pass.resize(options_.num_shards);
    for (std::vector<uint32_t>& pass : entry.pass) pass.resize(i + 1);
  }
  const bool marked = all_marked || entry.pass[shard][i] != kUnmarked;
  if (marked != mark.repeat) {
    return absl::InvalidArgumentError(absl::StrCat(
        ProcessName(Role::kPs, shard),
        mark.repeat ? " refused a repeat of a batch it has not marked: "
                    : " marked a batch twice: ",
        ToString(batch)));
  }
  if (mark.repeat) {
    if (all_marked || entry.pass[shard][i] != mark.lease) {
      CountRecomputed(i, entry);
    }
    return Added{};
  }
  SHOAL_RETURN_IF_ERROR(AddFresh(shard, mark, entry));
  Recount(batch.piece, entry);
  return Added{.fresh = true, .piece_complete = Settle(key)};
}

absl::Status Ledger::AddFresh(int shard, const Mark& mark, Entry& entry) {
  const uint32_t i = mark.batch.index;
  const bool rejected = mark.verdict == Verdict::kRejected;
  if (entry.shards[i] == 0) {
    if (rejected) {
      entry.rejected.Set(i);
    } else {
      entry.rejected.Clear(i);
    }
  }
  bool other_pass = false;
  for (int other = 0; other < options_.num_shards; ++other) {
    const uint32_t pass = entry.pass[other][i];
    if (pass == kUnmarked) continue;
    if (entry.rejected.Get(i) != rejected) {
      return absl::DataLossError(absl::StrCat(
          "batch ", ToString(mark.batch),
          " is torn: ", ProcessName(Role::kPs, shard), " has ",
          Did(mark.verdict), " it, ", ProcessName(Role::kPs, other), " has ",
          Did(rejected ? Verdict::kApplied : Verdict::kRejected), " it"));
    }
    other_pass |= pass != kPassUnknown && mark.lease != kUnknownLease &&
                  pass != mark.lease;
  }
  entry.pass[shard][i] = static_cast<uint32_t>(mark.lease);
  if (other_pass) {
    if (entry.mended.Set(i)) ++totals_.mended;
    CountRecomputed(i, entry);
  }
  if (++entry.shards[i] == static_cast<uint32_t>(options_.num_shards)) {
    ++entry.complete;
    entry.complete_rejected += rejected;
    ++totals_.batches;
    totals_.rejected_batches += rejected;
  }
  return absl::OkStatus();
}

void Ledger::CountRecomputed(uint32_t batch, Entry& entry) {
  if (entry.recomputed.Set(batch)) ++totals_.recomputed;
}

void Ledger::Recount(uint32_t piece, Entry& entry) {
  const uint64_t full = options_.batch_size;
  uint64_t rejected = entry.complete_rejected * full;
  uint64_t trained = entry.complete * full - rejected;
  // The last batch is shorter; of an open piece, the newest may be the last.
  if (!entry.shards.empty()) {
    const uint32_t newest = static_cast<uint32_t>(entry.shards.size()) - 1;
    uint64_t too_much = 0;
    if (!Known(piece)) {
      too_much = full;
    } else if (newest + 1 == Batches(piece)) {
      too_much = Batches(piece) * full - *examples_[piece];
    }
    if (entry.shards[newest] == static_cast<uint32_t>(options_.num_shards)) {
      (entry.rejected.Get(newest) ? rejected : trained) -= too_much;
    }
  }
  totals_.trained += trained - entry.trained;
  totals_.rejected += rejected - entry.rejected_examples;
  entry.trained = trained;
  entry.rejected_examples = rejected;
}

bool Ledger::Settle(Key key) {
  const auto [epoch, piece] = key;
  Entry& entry = entries_[key];
  if (!Known(piece) || entry.complete != Batches(piece)) return false;
  std::vector<bool>& flags = complete_[epoch];
  flags.resize(options_.num_pieces);
  flags[piece] = true;
  ++complete_pieces_;
  ++complete_in_epoch_[epoch];
  while (complete_epochs_ < options_.num_epochs &&
         complete_in_epoch_[complete_epochs_] == options_.num_pieces) {
    ++complete_epochs_;
  }
  entry.pass = {};
  entry.shards = {};
  if (entry.rejected.empty() && entry.recomputed.empty()) entries_.erase(key);
  return true;
}

void Ledger::SetRepeatsRefused(int shard, uint64_t count) {
  if (shard < 0 || shard >= options_.num_shards) return;
  totals_.repeats_refused += count - repeats_refused_[shard];
  repeats_refused_[shard] = count;
}

absl::StatusOr<std::vector<uint32_t>> Ledger::SetExamples(uint32_t piece,
                                                          uint64_t examples) {
  examples_[piece] = examples;
  std::vector<uint32_t> complete;
  for (uint32_t epoch = 0; epoch < options_.num_epochs; ++epoch) {
    const Key key{epoch, piece};
    const auto it = entries_.find(key);
    if (it != entries_.end()) {
      if (it->second.shards.size() > Batches(piece)) {
        return absl::DataLossError(absl::StrCat(
            "piece ", piece, " has ", Batches(piece), " batches, but batch ",
            ToString(
                BatchId{epoch, piece,
                        static_cast<uint32_t>(it->second.shards.size()) - 1}),
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

absl::StatusOr<std::vector<std::pair<uint32_t, uint32_t>>> Ledger::AddLoaded(
    int shard, absl::Span<const MarkRun> marks) {
  std::vector<Key> complete;
  for (const MarkRun& run : marks) {
    Mark mark;
    mark.verdict = run.verdict;
    mark.lease = kUnknownLease;
    for (uint32_t i = run.begin; i < run.end; ++i) {
      mark.batch = {run.epoch, run.piece, i};
      SHOAL_ASSIGN_OR_RETURN(const Added added, Add(shard, mark));
      if (added.piece_complete) complete.push_back({run.epoch, run.piece});
    }
  }
  return complete;
}

void Ledger::SetEarlier(uint64_t mended, uint64_t recomputed,
                        uint64_t repeats_refused) {
  totals_.mended += mended;
  totals_.recomputed += recomputed;
  totals_.repeats_refused += repeats_refused;
}

std::vector<std::pair<uint32_t, uint32_t>> Ledger::DropShard(int shard) {
  std::vector<Key> reopened;
  if (shard < 0 || shard >= options_.num_shards) return reopened;
  for (auto& [epoch, flags] : complete_) {
    for (uint32_t piece = 0; piece < flags.size(); ++piece) {
      if (!flags[piece] || Batches(piece) == 0) continue;
      flags[piece] = false;
      --complete_pieces_;
      --complete_in_epoch_[epoch];
      complete_epochs_ = std::min(complete_epochs_, epoch);
      reopened.push_back({epoch, piece});
      // Details as they would be, had they been kept; who marked is forgotten.
      Entry& entry = entries_[{epoch, piece}];
      const uint32_t n = Batches(piece);
      entry.shards.assign(n, options_.num_shards);
      entry.pass.assign(options_.num_shards,
                        std::vector<uint32_t>(n, kPassUnknown));
      entry.complete = n;
      entry.complete_rejected = 0;
      for (uint32_t i = 0; i < n; ++i) {
        entry.complete_rejected += entry.rejected.Get(i);
      }
      const uint64_t too_much =
          uint64_t{n} * options_.batch_size - *examples_[piece];
      entry.rejected_examples =
          uint64_t{entry.complete_rejected} * options_.batch_size -
          (entry.rejected.Get(n - 1) ? too_much : 0);
      entry.trained = *examples_[piece] - entry.rejected_examples;
    }
  }
  for (auto& [key, entry] : entries_) {
    for (uint32_t i = 0; i < entry.shards.size(); ++i) {
      uint32_t& pass = entry.pass[shard][i];
      if (pass == kUnmarked) continue;
      pass = kUnmarked;
      if (entry.shards[i]-- == static_cast<uint32_t>(options_.num_shards)) {
        --entry.complete;
        entry.complete_rejected -= entry.rejected.Get(i);
        --totals_.batches;
        totals_.rejected_batches -= entry.rejected.Get(i);
      }
    }
    if (!entry.shards.empty()) Recount(key.second, entry);
  }
  return reopened;
}

uint32_t Ledger::CompleteEpochs() const {
  return options_.num_pieces == 0 ? options_.num_epochs : complete_epochs_;
}

bool Ledger::Complete(const BatchId& batch) const {
  if (PieceComplete(batch.epoch, batch.piece)) {
    return batch.index < Batches(batch.piece);
  }
  const auto it = entries_.find({batch.epoch, batch.piece});
  return it != entries_.end() && batch.index < it->second.shards.size() &&
         it->second.shards[batch.index] ==
             static_cast<uint32_t>(options_.num_shards);
}

bool Ledger::PieceComplete(uint32_t epoch, uint32_t piece) const {
  const auto it = complete_.find(epoch);
  return it != complete_.end() && piece < it->second.size() &&
         it->second[piece];
}

std::vector<uint8_t> Ledger::CompleteBatches(uint32_t epoch,
                                             uint32_t piece) const {
  BatchBits bits;
  const auto it = entries_.find({epoch, piece});
  if (it == entries_.end()) return {};
  const std::vector<uint32_t>& shards = it->second.shards;
  for (uint32_t i = 0; i < shards.size(); ++i) {
    if (shards[i] == static_cast<uint32_t>(options_.num_shards)) bits.Set(i);
  }
  return bits.bytes();
}

std::vector<std::pair<uint32_t, uint32_t>> Ledger::HalfMarked() const {
  std::vector<Key> pieces;
  for (const auto& [key, entry] : entries_) {
    for (uint32_t i = 0; i < entry.shards.size(); ++i) {
      if (!IsHalfMarked(entry, i)) continue;
      pieces.push_back(key);
      break;
    }
  }
  return pieces;
}

std::vector<uint8_t> Ledger::AllButHalfMarked(uint32_t epoch,
                                              uint32_t piece) const {
  const auto it = entries_.find({epoch, piece});
  if (it == entries_.end()) return {};
  std::vector<uint8_t> others;
  for (uint32_t i = 0; i < it->second.shards.size(); ++i) {
    if (!IsHalfMarked(it->second, i)) continue;
    others.resize(i / 8 + 1, 0xFF);
    others[i / 8] &= static_cast<uint8_t>(~(1u << (i % 8)));
  }
  return others;
}

double Ledger::FractionComplete(uint32_t epoch, uint32_t piece) const {
  if (PieceComplete(epoch, piece)) return 1;
  const auto it = entries_.find({epoch, piece});
  if (it == entries_.end() || !Known(piece)) return 0;
  return static_cast<double>(it->second.complete) / Batches(piece);
}

}  // namespace shoal
