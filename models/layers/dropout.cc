#include "models/layers/dropout.h"

#include <algorithm>
#include <cmath>

#include "base/philox.h"

namespace shoal {
namespace {

// Keeps these random numbers apart from others that are keyed by the seed.
constexpr uint64_t kTag = 0x64726f706f757431;  // "dropout1"

uint64_t Pair(uint32_t high, uint32_t low) {
  return uint64_t{high} << 32 | low;
}

}  // namespace

void DropoutMask(uint64_t seed, const BatchId& batch, int layer, float keep,
                 int first_position, int units, absl::Span<uint8_t> mask) {
  const Philox::Block key =
      Philox(seed ^ kTag)(Pair(batch.epoch, batch.piece),
                          Pair(batch.index, static_cast<uint32_t>(layer)));
  const Philox draw(Pair(key[1], key[0]));
  const auto threshold = static_cast<uint32_t>(std::lround(keep * 65536));
  uint64_t position = static_cast<uint64_t>(first_position);
  for (size_t start = 0; start < mask.size(); start += units, ++position) {
    for (int unit = 0; unit < units; unit += 8) {
      const Philox::Block words =
          draw(position, static_cast<uint64_t>(unit) / 8);
      uint8_t kept[8];
      for (int i = 0; i < 4; ++i) {
        kept[2 * i] = (words[i] & 0xffff) < threshold;
        kept[2 * i + 1] = (words[i] >> 16) < threshold;
      }
      std::copy_n(kept, std::min(8, units - unit), &mask[start + unit]);
    }
  }
}

DropoutLayer::DropoutLayer(uint64_t seed, int layer, float keep,
                           Backend* backend)
    : seed_(seed), layer_(layer), keep_(keep), backend_(backend) {}

void DropoutLayer::Forward(const BatchId& batch, int first_position, int units,
                           absl::Span<float> y) {
  if (keep_ == 1) return;
  mask_.ResizeDiscard(y.size());
  DropoutMask(seed_, batch, layer_, keep_, first_position, units, mask_.span());
  backend_->ScaleByMask(mask_.span(), 1 / keep_, y);
}

void DropoutLayer::Backward(absl::Span<float> d_y) {
  if (keep_ == 1) return;
  backend_->ScaleByMask(mask_.span(), 1 / keep_, d_y);
}

}  // namespace shoal
