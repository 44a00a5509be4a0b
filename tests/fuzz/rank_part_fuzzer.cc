// What another rank may tell in a round of ring mode. Whatever comes, only the
// part's own bytes are read, and a part that is read is written in the same
// way.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "worker/train/rank_part.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr int kDims[] = {3, 1};
  // A copy of exactly this size, so that a read beyond it is found.
  shoal::AlignedBuffer<char> bytes(size);
  if (size > 0) std::memcpy(bytes.data(), data, size);
  const auto part = shoal::DecodeRankPart(bytes.span(), kDims);
  if (!part.ok()) return 0;
  volatile float sum = 0;
  for (const shoal::RowGradients& table : part->tables) {
    for (const float value : table.rows) sum = sum + value;
  }
  shoal::AlignedBuffer<char> again;
  shoal::EncodeRankPart(*part, kDims, &again);
  // Without a batch the fields of a batch mean nothing.
  if (again.size() != size ||
      (part->batch.has_value() &&
       std::memcmp(again.data(), data, size) != 0)) {
    std::abort();
  }
  return 0;
}
