#include "core/ring_schedule.h"

#include <algorithm>

#include "base/check.h"

namespace shoal {
namespace {

struct Range {
  uint64_t begin = 0;
  uint64_t length = 0;
};

// Segment `s` of `length` elements that are cut into `count` segments. The
// first segments are longer by 1 where the length does not divide.
Range Segment(uint64_t length, int count, int s) {
  const uint64_t n = static_cast<uint64_t>(count);
  const uint64_t index = static_cast<uint64_t>(s);
  const uint64_t more = length % n;
  return {index * (length / n) + std::min(index, more),
          length / n + (index < more ? 1 : 0)};
}

// Chunk `c` of a range; its length is 0 beyond the range's end.
Range Chunk(Range range, uint64_t c, uint64_t chunk) {
  const uint64_t begin = std::min(range.length, c * chunk);
  return {range.begin + begin, std::min(chunk, range.length - begin)};
}

int Modulo(int64_t value, int size) {
  const int rest = static_cast<int>(value % size);
  return rest < 0 ? rest + size : rest;
}

}  // namespace

RingSchedule::RingSchedule(Reduction reduction, int size, int rank,
                           uint64_t length, uint64_t chunk)
    : reduction_(reduction),
      size_(size),
      rank_(rank),
      length_(length),
      chunk_(chunk) {
  SHOAL_DCHECK(size > 0 && rank >= 0 && rank < size && chunk > 0);
  const uint64_t longest = reduction_ == Reduction::kFast
                               ? Segment(length_, size_, 0).length
                               : length_;
  chunks_ = longest / chunk_ + (longest % chunk_ != 0 ? 1 : 0);
}

uint64_t RingSchedule::SendsOf(int rank) const {
  if (size_ == 1) return 0;
  if (reduction_ == Reduction::kFast) {
    return 2 * static_cast<uint64_t>(size_ - 1) * chunks_;
  }
  // Partial sums go up to the last rank, and sums to all ranks before it.
  return (rank != size_ - 1 ? chunks_ : 0) + (rank != size_ - 2 ? chunks_ : 0);
}

RingTransfer RingSchedule::SendOf(int rank, uint64_t i) const {
  SHOAL_DCHECK(i < SendsOf(rank));
  const uint64_t phase = i / chunks_;
  if (reduction_ == Reduction::kRankOrder) {
    const Range range = Chunk({0, length_}, i % chunks_, chunk_);
    return {range.begin, range.length, phase == 0 && rank != size_ - 1};
  }
  const uint64_t scatters = static_cast<uint64_t>(size_ - 1);
  const bool reduce = phase < scatters;
  const int64_t back = static_cast<int64_t>(reduce ? phase : phase - scatters);
  const int segment = Modulo(rank + (reduce ? 0 : 1) - back, size_);
  const Range range =
      Chunk(Segment(length_, size_, segment), i % chunks_, chunk_);
  return {range.begin, range.length, reduce};
}

uint64_t RingSchedule::Needs(uint64_t i) const {
  SHOAL_DCHECK(i < sends());
  if (reduction_ == Reduction::kFast || rank_ == 0) {
    return i < chunks_ ? 0 : i - chunks_ + 1;
  }
  return i + 1;
}

std::vector<SummedRange> SumOrder(Reduction reduction, int size,
                                  uint64_t length) {
  SHOAL_DCHECK(size > 0);
  if (reduction == Reduction::kRankOrder) return {{0, length, 0}};
  std::vector<SummedRange> ranges;
  for (int s = 0; s < size; ++s) {
    const Range range = Segment(length, size, s);
    ranges.push_back({range.begin, range.length, s});
  }
  return ranges;
}

}  // namespace shoal
