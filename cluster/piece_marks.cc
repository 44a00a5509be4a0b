#include "cluster/piece_marks.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/check.h"

namespace shoal {
namespace {

uint64_t BitOf(uint32_t batch) { return uint64_t{1} << (batch % 64); }

// Bits [begin, end) of 64.
uint64_t BitsOf(uint32_t begin, uint32_t end) {
  return (~uint64_t{0} >> (64 - (end - begin))) << begin;
}

}  // namespace

const PieceMarks::Chunk* PieceMarks::Find(uint32_t batch) const {
  const auto it = chunks_.find(batch / 64);
  return it == chunks_.end() ? nullptr : &it->second;
}

uint32_t PieceMarks::RawPass(const Chunk& chunk, int column,
                             uint32_t batch) const {
  const size_t at = size_t{batch % 64} * num_columns_ + column;
  return at < chunk.passes.size() ? chunk.passes[at] : kUnmarked;
}

uint32_t* PieceMarks::Row(Chunk& chunk, uint32_t batch) {
  const size_t at = size_t{batch % 64} * num_columns_;
  if (chunk.passes.size() < at + num_columns_) {
    chunk.passes.resize(at + num_columns_);
  }
  return chunk.passes.data() + at;
}

bool PieceMarks::Marked(int column, uint32_t batch) const {
  const Chunk* chunk = Find(batch);
  return chunk != nullptr && ((chunk->by_all & BitOf(batch)) != 0 ||
                              RawPass(*chunk, column, batch) != kUnmarked);
}

bool PieceMarks::MarkedByAll(uint32_t batch) const {
  const Chunk* chunk = Find(batch);
  return chunk != nullptr && (chunk->by_all & BitOf(batch)) != 0;
}

uint32_t PieceMarks::PassOf(int column, uint32_t batch) const {
  SHOAL_DCHECK(Marked(column, batch));
  const Chunk* chunk = Find(batch);
  const uint32_t pass =
      chunk == nullptr ? kUnmarked : RawPass(*chunk, column, batch);
  return pass == kUnmarked ? kUnknownPass : pass;
}

bool PieceMarks::Rejected(uint32_t batch) const {
  const Chunk* chunk = Find(batch);
  return chunk != nullptr && (chunk->rejected & BitOf(batch)) != 0;
}

std::optional<int> PieceMarks::ColumnOfOtherVerdict(uint32_t batch,
                                                    bool rejected) const {
  const Chunk* chunk = Find(batch);
  if (chunk == nullptr || (chunk->marked & BitOf(batch)) == 0 ||
      ((chunk->rejected & BitOf(batch)) != 0) == rejected) {
    return std::nullopt;
  }
  int column = 0;
  while (column + 1 < num_columns_ && !Marked(column, batch)) ++column;
  return column;
}

PieceMarks::Added PieceMarks::Add(int column, uint32_t batch, bool rejected,
                                  uint32_t pass) {
  SHOAL_DCHECK(!Marked(column, batch) && pass != 0);
  SHOAL_DCHECK(!ColumnOfOtherVerdict(batch, rejected).has_value());
  Chunk& chunk = chunks_[batch / 64];
  const uint64_t bit = BitOf(batch);
  uint32_t* const row = Row(chunk, batch);
  if ((chunk.marked & bit) == 0) {
    chunk.marked |= bit;
    chunk.rejected = rejected ? chunk.rejected | bit : chunk.rejected & ~bit;
    end_ = std::max(end_, batch + 1);
    ++half_marked_;
  }
  bool other_pass = false;
  row[column] = pass;
  int marked = 0;
  for (int other = 0; other < num_columns_; ++other) {
    if (row[other] == kUnmarked) continue;
    ++marked;
    other_pass |= row[other] != kUnknownPass && pass != kUnknownPass &&
                  row[other] != pass;
  }
  Added added;
  if (other_pass && (chunk.mended & bit) == 0) {
    chunk.mended |= bit;
    added.mended = true;
  }
  if (marked == num_columns_) {
    chunk.by_all |= bit;
    --half_marked_;
    ++complete_;
    complete_rejected_ += rejected;
    added.by_all = true;
  }
  return added;
}

void PieceMarks::AddRun(uint32_t begin, uint32_t end, bool rejected) {
  for (uint32_t at = begin; at < end;) {
    const uint32_t first = at / 64 * 64;
    const uint32_t to = std::min(end - first, 64u);
    const uint64_t bits = BitsOf(at - first, to);
    Chunk& chunk = chunks_[at / 64];
    SHOAL_DCHECK((chunk.marked & bits) == 0);
    chunk.marked |= bits;
    chunk.by_all |= bits;
    chunk.rejected = rejected ? chunk.rejected | bits : chunk.rejected & ~bits;
    at = first + to;
  }
  end_ = std::max(end_, end);
  complete_ += end - begin;
  if (rejected) complete_rejected_ += end - begin;
}

bool PieceMarks::SetRecomputed(uint32_t batch) {
  uint64_t& recomputed = chunks_[batch / 64].recomputed;
  const bool fresh = (recomputed & BitOf(batch)) == 0;
  recomputed |= BitOf(batch);
  return fresh;
}

std::vector<uint8_t> PieceMarks::CompleteBits() const {
  std::vector<uint8_t> bytes;
  for (const auto& [index, chunk] : chunks_) {
    if (chunk.by_all == 0) continue;
    const size_t at = size_t{index} * 8;
    bytes.resize(at + 8 - std::countl_zero(chunk.by_all) / 8);
    for (size_t i = at; i < bytes.size(); ++i) {
      bytes[i] = static_cast<uint8_t>(chunk.by_all >> (8 * (i - at)));
    }
  }
  return bytes;
}

std::vector<uint8_t> PieceMarks::AllButHalfMarkedBits() const {
  std::vector<uint8_t> bytes;
  for (const auto& [index, chunk] : chunks_) {
    const uint64_t half = chunk.marked & ~chunk.by_all;
    if (half == 0) continue;
    const size_t at = size_t{index} * 8;
    bytes.resize(at + 8 - std::countl_zero(half) / 8, 0xff);
    for (size_t i = at; i < bytes.size(); ++i) {
      bytes[i] = static_cast<uint8_t>(~(half >> (8 * (i - at))));
    }
  }
  return bytes;
}

std::vector<uint8_t> PieceMarks::HalfRejectedBits() const {
  std::vector<uint8_t> bytes;
  for (const auto& [index, chunk] : chunks_) {
    const uint64_t half = chunk.marked & ~chunk.by_all & chunk.rejected;
    if (half == 0) continue;
    const size_t at = size_t{index} * 8;
    bytes.resize(at + 8 - std::countl_zero(half) / 8);
    for (size_t i = at; i < bytes.size(); ++i) {
      bytes[i] = static_cast<uint8_t>(half >> (8 * (i - at)));
    }
  }
  return bytes;
}

void PieceMarks::Settle() {
  SHOAL_DCHECK(half_marked_ == 0);
  for (auto it = chunks_.begin(); it != chunks_.end();) {
    Chunk& chunk = it->second;
    chunk.passes = {};
    const bool plain = chunk.rejected == 0 && chunk.recomputed == 0;
    it = plain ? chunks_.erase(it) : std::next(it);
  }
}

void PieceMarks::Unsettle(uint32_t batches) {
  uint32_t rejected = 0;
  for (uint32_t first = 0; first < batches; first += 64) {
    Chunk& chunk = chunks_[first / 64];
    chunk.marked = chunk.by_all = BitsOf(0, std::min(batches - first, 64u));
    rejected += std::popcount(chunk.rejected);
  }
  end_ = complete_ = batches;
  complete_rejected_ = rejected;
}

PieceMarks::Dropped PieceMarks::DropColumn(int column) {
  Dropped dropped;
  for (auto& [index, chunk] : chunks_) {
    for (uint32_t i = 0; i < 64; ++i) {
      const uint64_t bit = BitOf(i);
      if ((chunk.marked & bit) == 0) continue;
      uint32_t* const row = Row(chunk, i);
      if ((chunk.by_all & bit) != 0) {
        std::replace(row, row + num_columns_, kUnmarked, kUnknownPass);
        chunk.by_all &= ~bit;
        --complete_;
        ++dropped.batches;
        if ((chunk.rejected & bit) != 0) {
          --complete_rejected_;
          ++dropped.rejected;
        }
        ++half_marked_;
      }
      row[column] = kUnmarked;
      if (std::all_of(row, row + num_columns_,
                      [](uint32_t pass) { return pass == kUnmarked; })) {
        chunk.marked &= ~bit;
        --half_marked_;
      }
    }
  }
  return dropped;
}

PieceMarks::Removed PieceMarks::RemoveColumn(int column) {
  SHOAL_DCHECK(column >= 0 && column < num_columns_ && num_columns_ > 1);
  Removed removed;
  for (auto& [index, chunk] : chunks_) RemoveFrom(&chunk, column, &removed);
  --num_columns_;
  return removed;
}

void PieceMarks::RemoveFrom(Chunk* chunk, int column, Removed* removed) {
  std::vector<uint32_t> passes;
  for (uint32_t i = 0; i < 64; ++i) {
    const uint64_t bit = BitOf(i);
    int marked = 0;
    for (int other = 0; other < num_columns_; ++other) {
      if (other == column) continue;
      const uint32_t pass = RawPass(*chunk, other, i);
      marked += pass != kUnmarked;
      passes.push_back(pass);
    }
    if ((chunk->marked & bit) == 0 || (chunk->by_all & bit) != 0) continue;
    const bool rejected = (chunk->rejected & bit) != 0;
    if (marked == 0) {
      chunk->marked &= ~bit;
      --half_marked_;
    } else if (marked + 1 == num_columns_) {
      chunk->by_all |= bit;
      --half_marked_;
      ++complete_;
      complete_rejected_ += rejected;
      ++removed->batches;
      removed->rejected += rejected;
    }
  }
  if (!chunk->passes.empty()) chunk->passes = std::move(passes);
}

}  // namespace shoal
