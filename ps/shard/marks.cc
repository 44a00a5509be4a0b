#include "ps/shard/marks.h"

#include <algorithm>
#include <bit>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/stable_hash.h"
#include "base/status_macros.h"

namespace shoal {
namespace {

// The most leases of one chunk that are told apart. More than a few means that
// the job has other problems; then a copy's mark may be sent twice.
constexpr size_t kPassesMax = 64;

uint64_t BitOf(const BatchId& batch) {
  return uint64_t{1} << (batch.index % 64);
}

}  // namespace

BatchId Marks::ChunkOf(const BatchId& batch) {
  return BatchId{batch.epoch, batch.piece, batch.index / 64};
}

std::optional<Verdict> Marks::VerdictOn(const BatchId& batch) const {
  const auto it = chunks_.find(ChunkOf(batch));
  if (it == chunks_.end()) return std::nullopt;
  const uint64_t bit = BitOf(batch);
  if (it->second.rejected & bit) return Verdict::kRejected;
  if (it->second.applied & bit) return Verdict::kApplied;
  return std::nullopt;
}

absl::StatusOr<Verdict> Marks::FirstVerdict(
    absl::Span<const PushedBatch> batches) const {
  if (batches.size() == 1) return *VerdictOn(batches[0].id);
  std::optional<Verdict> verdict;  // on those that the copy does not reject
  for (const PushedBatch& batch : batches) {
    const Verdict first = *VerdictOn(batch.id);
    if (!batch.rejected && !verdict.has_value()) verdict = first;
    if (first != (batch.rejected ? Verdict::kRejected : *verdict)) {
      return absl::FailedPreconditionError(absl::StrCat(
          "this shard has ",
          first == Verdict::kApplied ? "applied" : "rejected", " batch ",
          ToString(batch.id), ", but the push of ", ToString(batches),
          batch.rejected ? " rejects it" : " has batches of another verdict",
          "; the ranks do not agree on the step"));
    }
  }
  return verdict.value_or(Verdict::kRejected);
}

absl::Status Marks::KnownInPart(absl::Span<const PushedBatch> batches) const {
  const PushedBatch* known = nullptr;
  const PushedBatch* unknown = nullptr;
  for (const PushedBatch& batch : batches) {
    const bool knows =
        VerdictOn(batch.id).has_value() || applying_.contains(batch.id);
    (knows ? known : unknown) = &batch;
  }
  if (unknown == nullptr) {
    return absl::UnavailableError(
        absl::StrCat("this shard is applying other pushes that have some of ",
                     ToString(batches), "; send the push again"));
  }
  return absl::FailedPreconditionError(absl::StrCat(
      "the push brings the sum of the gradients of batch ",
      ToString(known->id), ", which this shard has, and of batch ",
      ToString(unknown->id),
      ", which it does not have; the ranks do not agree on the step"));
}

absl::Status Marks::CheckPending(size_t more) const {
  if (pending_.size() + more <= options_.pending_max) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat(
      "the coordinator has not taken ", pending_.size(),
      " marks of this shard; is its session alive? retry later"));
}

void Marks::RefuseLeases(uint64_t newest) {
  refused_leases_ = std::max(refused_leases_, newest);
}

absl::Status Marks::CheckLeases(absl::Span<const PushedBatch> batches) const {
  if (refused_leases_ == 0) return absl::OkStatus();
  for (const PushedBatch& batch : batches) {
    if (batch.lease > refused_leases_) continue;
    return absl::FailedPreconditionError(absl::StrCat(
        "batch ", ToString(batch.id), " comes under lease ", batch.lease,
        ", which ended when the workers of the job changed; the batch is given "
        "to a worker again"));
  }
  return absl::OkStatus();
}

absl::Status Marks::CheckChunks(absl::Span<const PushedBatch> batches) const {
  // Each batch that is being applied may still need a chunk of its own.
  const size_t taken = chunks_.size() + applying_.size();
  if (taken + batches.size() <= options_.chunks_max) return absl::OkStatus();
  absl::flat_hash_set<BatchId> added;
  for (const PushedBatch& batch : batches) {
    const BatchId chunk = ChunkOf(batch.id);
    if (!chunks_.contains(chunk)) added.insert(chunk);
  }
  if (added.empty() || taken + added.size() <= options_.chunks_max) {
    return absl::OkStatus();
  }
  // Batches that are being applied may turn out to share a chunk, but chunks
  // that are kept never go away.
  const bool for_good = chunks_.size() + added.size() > options_.chunks_max;
  return absl::Status(
      for_good ? absl::StatusCode::kOutOfRange
               : absl::StatusCode::kResourceExhausted,
      absl::StrCat(
          "this shard keeps the marks of ", chunks_.size(),
          " runs of 64 batches and takes no more; batch ",
          ToString(batches[0].id),
          " is far from those of any real job, or a larger batch is needed"));
}

void Marks::CountRepeat(const PushedBatch& batch) {
  ++repeats_refused_;
  Chunk& chunk = chunks_[ChunkOf(batch.id)];
  const uint64_t bit = BitOf(batch.id);
  SHOAL_DCHECK(((chunk.applied | chunk.rejected) & bit) != 0);
  const auto pass = std::find_if(
      chunk.passes.begin(), chunk.passes.end(),
      [&batch](const Pass& p) { return p.lease == batch.lease; });
  if (pass != chunk.passes.end()) {
    // The same forward pass was sent again, which need not be reported.
    if ((pass->made | pass->repeated) & bit) return;
    pass->repeated |= bit;
  } else if (chunk.passes.size() < kPassesMax) {
    chunk.passes.push_back(Pass{batch.lease, 0, bit});
  }
  const Verdict verdict =
      chunk.rejected & bit ? Verdict::kRejected : Verdict::kApplied;
  pending_.push_back(Mark{batch.id, verdict, batch.lease, /*repeat=*/true});
}

absl::StatusOr<std::optional<Verdict>> Marks::Repeat(
    absl::Span<const PushedBatch> batches) {
  SHOAL_DCHECK(!batches.empty());
  const auto marked = std::count_if(
      batches.begin(), batches.end(), [this](const PushedBatch& batch) {
        return VerdictOn(batch.id).has_value();
      });
  if (marked == 0) return std::nullopt;
  if (static_cast<size_t>(marked) < batches.size()) return KnownInPart(batches);
  SHOAL_RETURN_IF_ERROR(CheckPending(batches.size()));
  SHOAL_ASSIGN_OR_RETURN(const Verdict verdict, FirstVerdict(batches));
  for (const PushedBatch& batch : batches) CountRepeat(batch);
  return verdict;
}

absl::StatusOr<Marks::Admitted> Marks::Begin(
    absl::Span<const PushedBatch> batches, uint64_t ticket) {
  SHOAL_ASSIGN_OR_RETURN(const std::optional<Verdict> verdict, Repeat(batches));
  if (verdict.has_value()) return Admitted{Admission::kRepeat, *verdict};
  SHOAL_RETURN_IF_ERROR(
      CheckPending(applying_.size() + waiting_ + batches.size()));
  for (const PushedBatch& batch : batches) {
    if (applying_.contains(batch.id)) return Wait(batches, ticket);
  }
  SHOAL_RETURN_IF_ERROR(CheckLeases(batches));
  SHOAL_RETURN_IF_ERROR(CheckChunks(batches));
  for (const PushedBatch& batch : batches) {
    applying_[batch.id].first = batches[0].id;
  }
  return Admitted{Admission::kApply};
}

absl::StatusOr<Marks::Admitted> Marks::Wait(
    absl::Span<const PushedBatch> batches, uint64_t ticket) {
  const auto push = applying_.find(batches[0].id);
  for (const PushedBatch& batch : batches) {
    const auto it = applying_.find(batch.id);
    if (it == applying_.end() || push == applying_.end() ||
        it->second.first != push->second.first) {
      return KnownInPart(batches);
    }
  }
  if (waiting_ + batches.size() > options_.waiting_max) {
    return absl::ResourceExhaustedError(
        absl::StrCat(waiting_,
                     " batches of pushes wait for other copies to be applied; "
                     "retry later"));
  }
  applying_[push->second.first].waiting.push_back(
      {ticket, PushedBatches(batches.begin(), batches.end())});
  waiting_ += batches.size();
  return Admitted{Admission::kWait};
}

void Marks::SetMark(const PushedBatch& batch, Verdict verdict) {
  const uint64_t bit = BitOf(batch.id);
  Chunk& chunk = chunks_[ChunkOf(batch.id)];
  const auto pass = std::find_if(
      chunk.passes.begin(), chunk.passes.end(),
      [&batch](const Pass& p) { return p.lease == batch.lease; });
  if (pass != chunk.passes.end()) {
    pass->made |= bit;
  } else if (chunk.passes.size() < kPassesMax) {
    chunk.passes.push_back(Pass{batch.lease, bit, 0});
  }
  (verdict == Verdict::kRejected ? chunk.rejected : chunk.applied) |= bit;
  CountMark(ChunkOf(batch.id), batch.id.index % 64, verdict);
  pending_.push_back(Mark{batch.id, verdict, batch.lease, /*repeat=*/false});
}

std::vector<Marks::Answer> Marks::Finish(absl::Span<const PushedBatch> batches,
                                         Verdict verdict) {
  std::vector<Waiting> waiting;
  for (const PushedBatch& batch : batches) {
    const auto it = applying_.find(batch.id);
    SHOAL_DCHECK(it != applying_.end());
    SHOAL_DCHECK(it->second.first == batches[0].id);
    if (!it->second.waiting.empty()) waiting = std::move(it->second.waiting);
    applying_.erase(it);
    SetMark(batch, batch.rejected ? Verdict::kRejected : verdict);
  }
  std::vector<Answer> answers;
  for (const Waiting& copy : waiting) {
    waiting_ -= copy.batches.size();
    answers.push_back({copy.ticket, FirstVerdict(copy.batches)});
    if (!answers.back().verdict.ok()) continue;
    for (const PushedBatch& batch : copy.batches) CountRepeat(batch);
  }
  return answers;
}

absl::Status Marks::Restore(absl::Span<const MarkRun> runs) {
  const MarkRun* last = nullptr;
  chunks_.reserve(std::min<size_t>(runs.size(), options_.chunks_max));
  for (const MarkRun& run : runs) {
    const auto place = std::make_tuple(run.epoch, run.piece);
    const bool ascending =
        last == nullptr || place > std::make_tuple(last->epoch, last->piece) ||
        (place == std::make_tuple(last->epoch, last->piece) &&
         (run.begin > last->end ||
          (run.begin == last->end && run.verdict != last->verdict)));
    if (!ascending || run.begin >= run.end || run.end > uint64_t{1} << 32 ||
        (run.verdict != Verdict::kApplied &&
         run.verdict != Verdict::kRejected)) {
      return absl::InvalidArgumentError(
          absl::StrCat("the marks of batches ", run.begin, " to ", run.end,
                       " of epoch ", run.epoch, ", piece ", run.piece,
                       " are out of order, or their verdict is not valid"));
    }
    last = &run;
    for (uint64_t at = run.begin; at < run.end;) {
      const uint64_t chunk_end = std::min<uint64_t>(run.end, (at | 63) + 1);
      const uint64_t count = chunk_end - at;
      const uint64_t bits =
          (count == 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1)
          << (at % 64);
      const BatchId id{run.epoch, run.piece, static_cast<uint32_t>(at / 64)};
      if (chunks_.size() >= options_.chunks_max && !chunks_.contains(id)) {
        return absl::ResourceExhaustedError(
            absl::StrCat("the marks need more than ", chunks_.size(),
                         " chunks of up to 64 batches, the limit of a server"));
      }
      Chunk& chunk = chunks_[id];
      const bool rejected = run.verdict == Verdict::kRejected;
      (rejected ? chunk.rejected : chunk.applied) |= bits;
      for (uint64_t i = 0; i < count; ++i)
        CountMark(id, (at + i) % 64, run.verdict);
      at = chunk_end;
    }
  }
  return absl::OkStatus();
}

std::vector<Marks::Bits> Marks::Copy() const {
  std::vector<Bits> bits;
  bits.reserve(chunks_.size());
  for (const auto& [id, chunk] : chunks_) {
    bits.push_back({id, chunk.applied, chunk.rejected});
  }
  return bits;
}

std::vector<MarkRun> Marks::RunsOf(std::vector<Bits> bits) {
  std::sort(bits.begin(), bits.end(),
            [](const Bits& a, const Bits& b) { return a.chunk < b.chunk; });
  std::vector<MarkRun> runs;
  runs.reserve(bits.size());
  for (const auto& [id, applied, rejected] : bits) {
    for (uint64_t left = applied | rejected; left != 0;) {
      const int first = std::countr_zero(left);
      const bool is_rejected = rejected >> first & 1;
      // The run goes on as long as consecutive marks have this verdict.
      const uint64_t same = (is_rejected ? rejected : applied) >> first;
      const int count = std::countr_one(same);
      const uint64_t index = uint64_t{id.index} * 64 + first;
      const Verdict verdict =
          is_rejected ? Verdict::kRejected : Verdict::kApplied;
      if (!runs.empty() && runs.back().epoch == id.epoch &&
          runs.back().piece == id.piece && runs.back().end == index &&
          runs.back().verdict == verdict) {
        runs.back().end += count;
      } else {
        runs.push_back({id.epoch, id.piece, index, index + count, verdict});
      }
      left =
          first + count == 64 ? 0 : left >> (first + count) << (first + count);
    }
  }
  return runs;
}

void Marks::CountMark(const BatchId& chunk, uint64_t index, Verdict verdict) {
  const uint64_t place = StableHashCombine(
      uint64_t{chunk.epoch} << 32 | chunk.piece, uint64_t{chunk.index} * 64);
  totals_.digest +=
      StableHashCombine(place + index, static_cast<uint64_t>(verdict));
  ++(verdict == Verdict::kRejected ? totals_.rejected : totals_.applied);
}

MarkDelta Marks::Take() {
  MarkDelta delta;
  delta.marks.swap(pending_);
  delta.repeats_refused = repeats_refused_;
  return delta;
}

}  // namespace shoal
