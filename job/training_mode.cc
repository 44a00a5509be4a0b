#include "job/training_mode.h"

#include <cstddef>
#include <iterator>

#include "worker/train/push_exchange.h"

namespace shoal {
namespace {

template <typename Exchange>
std::unique_ptr<GradientExchange> Make(ShardedClient* shards) {
  return std::make_unique<Exchange>(shards);
}

// In the order of kTrainingModes.
constexpr TrainingModeKind kKinds[] = {
    {TrainingMode::kAsync, Make<PushExchange>},
};

constexpr bool ModesAgree() {
  if (std::size(kKinds) != std::size(kTrainingModes)) return false;
  for (size_t i = 0; i < std::size(kKinds); ++i) {
    if (kKinds[i].mode != kTrainingModes[i].value) return false;
    if (static_cast<size_t>(kKinds[i].mode) != i) return false;
  }
  return true;
}
static_assert(ModesAgree(), "core/training_mode.h lists other modes");

}  // namespace

const TrainingModeKind& KindOf(TrainingMode mode) {
  return kKinds[static_cast<size_t>(mode)];
}

const TrainingModeKind& DefaultKind() { return KindOf(TrainingMode::kAsync); }

}  // namespace shoal
