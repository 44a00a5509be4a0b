#include "core/gradient_sum.h"

#include <algorithm>

#include "base/check.h"
#include "core/add_floats.h"

namespace shoal {
namespace {

// Elements that are summed before the next ones: they stay in the first cache.
constexpr size_t kBlock = 2048;

}  // namespace

void SumInRankOrder(absl::Span<const absl::Span<const float>> ranks,
                    absl::Span<float> sum) {
  SHOAL_DCHECK(!ranks.empty());
  for (const absl::Span<const float> rank : ranks) {
    SHOAL_DCHECK(rank.size() == sum.size());
  }
  for (size_t begin = 0; begin < sum.size(); begin += kBlock) {
    const size_t size = std::min(kBlock, sum.size() - begin);
    float* const to = sum.data() + begin;
    if (ranks[0].data() != sum.data()) {
      std::copy_n(ranks[0].data() + begin, size, to);
    }
    for (const absl::Span<const float> rank : ranks.subspan(1)) {
      AddFloats(rank.data() + begin, size, to);
    }
  }
}

void DivideByExamples(uint64_t examples, absl::Span<float> values) {
  SHOAL_DCHECK(examples > 0);
  const auto divisor = static_cast<float>(examples);
  for (float& value : values) value /= divisor;
}

bool DividesDense(const ModelSpec& model) { return model.divides_gradient; }

bool DividesRows(const ModelSpec& model, size_t table) {
  SHOAL_DCHECK(table < model.tables.size());
  return model.divides_gradient && !model.tables[table].on_every_shard;
}

}  // namespace shoal
