#include "worker/collective/collective_work.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/check.h"
#include "core/add_floats.h"
#include "core/ring_schedule.h"

namespace shoal {
namespace {

// Elements that are summed before the next ones: they stay in the first cache.
constexpr uint64_t kBlock = 2048;

void SumBlock(int first, uint64_t begin, uint64_t length,
              absl::Span<const absl::Span<float>> values) {
  float sum[kBlock];
  const size_t ranks = values.size();
  for (size_t i = 0; i < ranks; ++i) {
    const size_t rank = (static_cast<size_t>(first) + i) % ranks;
    const float* const x = values[rank].data() + begin;
    if (i == 0) {
      std::copy(x, x + length, sum);
    } else {
      AddFloats(x, length, sum);
    }
  }
  for (const absl::Span<float> rank : values) {
    std::copy(sum, sum + length, rank.data() + begin);
  }
}

void Copy(absl::Span<const char> from, absl::Span<char> to) {
  if (!from.empty()) std::memcpy(to.data(), from.data(), from.size());
}

}  // namespace

void SumRanks(Reduction reduction,
              absl::Span<const absl::Span<float>> values) {
  const int size = static_cast<int>(values.size());
  for (const SummedRange& range :
       SumOrder(reduction, size, values[0].size())) {
    for (uint64_t done = 0; done < range.length; done += kBlock) {
      SumBlock(range.first, range.begin + done,
               std::min(kBlock, range.length - done), values);
    }
  }
}

void GatherRanks(absl::Span<const absl::Span<const char>> bytes,
                 absl::Span<GatheredParts* const> parts) {
  const int size = static_cast<int>(bytes.size());
  for (int to = 0; to < size; ++to) {
    GatheredParts* const gathered = parts[static_cast<size_t>(to)];
    gathered->Reset(size);
    for (int from = 0; from < size; ++from) {
      const absl::Span<const char> part = bytes[static_cast<size_t>(from)];
      if (from == to) {
        gathered->Refer(from, part);
      } else {
        Copy(part, gathered->Allocate(from, part.size()));
      }
    }
  }
}

void BroadcastRanks(int root, absl::Span<const absl::Span<char>> bytes) {
  SHOAL_DCHECK(root >= 0 && static_cast<size_t>(root) < bytes.size());
  const absl::Span<char> from = bytes[static_cast<size_t>(root)];
  for (size_t rank = 0; rank < bytes.size(); ++rank) {
    if (rank != static_cast<size_t>(root)) Copy(from, bytes[rank]);
  }
}

}  // namespace shoal
