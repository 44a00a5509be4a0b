#include "ps/shard/marks.h"

#include <algorithm>
#include <bit>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/stable_hash.h"

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

void Marks::CountRepeat(Chunk* chunk, const BatchId& batch, Verdict verdict,
                        uint64_t lease) {
  ++repeats_refused_;
  const uint64_t bit = BitOf(batch);
  SHOAL_DCHECK(((chunk->applied | chunk->rejected) & bit) != 0);
  const auto pass =
      std::find_if(chunk->passes.begin(), chunk->passes.end(),
                   [lease](const Pass& p) { return p.lease == lease; });
  if (pass != chunk->passes.end()) {
    // The same forward pass was sent again, which need not be reported.
    if ((pass->made | pass->repeated) & bit) return;
    pass->repeated |= bit;
  } else if (chunk->passes.size() < kPassesMax) {
    chunk->passes.push_back(Pass{lease, 0, bit});
  }
  pending_.push_back(Mark{batch, verdict, lease, /*repeat=*/true});
}

absl::StatusOr<std::optional<Verdict>> Marks::Repeat(const BatchId& batch,
                                                     uint64_t lease) {
  const auto it = chunks_.find(ChunkOf(batch));
  if (it == chunks_.end()) return std::nullopt;
  const uint64_t bit = BitOf(batch);
  if (((it->second.applied | it->second.rejected) & bit) == 0) {
    return std::nullopt;
  }
  if (pending_.size() >= options_.pending_max) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "the coordinator has not taken ", pending_.size(),
        " marks of this shard; is its session alive? retry later"));
  }
  const Verdict verdict =
      it->second.rejected & bit ? Verdict::kRejected : Verdict::kApplied;
  CountRepeat(&it->second, batch, verdict, lease);
  return verdict;
}

absl::StatusOr<Marks::Admitted> Marks::Begin(const BatchId& batch,
                                             uint64_t lease, uint64_t ticket) {
  const auto repeat = Repeat(batch, lease);
  if (!repeat.ok()) return repeat.status();
  if (repeat->has_value()) return Admitted{Admission::kRepeat, **repeat};
  if (pending_.size() + applying_.size() + waiting_ >= options_.pending_max) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "the coordinator has not taken ", pending_.size(),
        " marks of this shard; is its session alive? retry later"));
  }
  if (const auto it = applying_.find(batch); it != applying_.end()) {
    if (waiting_ >= options_.waiting_max) {
      return absl::ResourceExhaustedError(
          absl::StrCat(waiting_,
                       " pushes wait for other copies of their batches to be "
                       "applied; retry later"));
    }
    it->second.waiting.emplace_back(ticket, lease);
    ++waiting_;
    return Admitted{Admission::kWait};
  }
  // Each batch that is being applied may still need a chunk of its own.
  if (chunks_.size() + applying_.size() >= options_.chunks_max &&
      !chunks_.contains(ChunkOf(batch))) {
    // Batches that are being applied may turn out to share a chunk, but chunks
    // that are kept never go away.
    const bool for_good = chunks_.size() >= options_.chunks_max;
    return absl::Status(
        for_good ? absl::StatusCode::kOutOfRange
                 : absl::StatusCode::kResourceExhausted,
        absl::StrCat(
            "this shard keeps the marks of ", chunks_.size(),
            " runs of 64 batches and takes no more; batch ", ToString(batch),
            " is far from those of any real job, or a larger batch is needed"));
  }
  applying_[batch].lease = lease;
  return Admitted{Admission::kApply};
}

std::vector<uint64_t> Marks::Finish(const BatchId& batch, Verdict verdict) {
  std::vector<uint64_t> tickets;
  const auto it = applying_.find(batch);
  if (it == applying_.end()) return tickets;
  const Applying done = std::move(it->second);
  applying_.erase(it);

  const uint64_t bit = BitOf(batch);
  Chunk& chunk = chunks_[ChunkOf(batch)];
  const auto pass =
      std::find_if(chunk.passes.begin(), chunk.passes.end(),
                   [&done](const Pass& p) { return p.lease == done.lease; });
  if (pass != chunk.passes.end()) {
    pass->made |= bit;
  } else if (chunk.passes.size() < kPassesMax) {
    chunk.passes.push_back(Pass{done.lease, bit, 0});
  }
  (verdict == Verdict::kRejected ? chunk.rejected : chunk.applied) |= bit;
  CountMark(ChunkOf(batch), batch.index % 64, verdict);
  pending_.push_back(Mark{batch, verdict, done.lease, /*repeat=*/false});
  waiting_ -= done.waiting.size();
  for (const auto& [ticket, lease] : done.waiting) {
    CountRepeat(&chunk, batch, verdict, lease);
    tickets.push_back(ticket);
  }
  return tickets;
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
