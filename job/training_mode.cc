#include "job/training_mode.h"

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>

#include "coordinator/coordinator_options.h"
#include "launch/job_flags.h"
#include "worker/train/hybrid_exchange.h"
#include "worker/train/push_exchange.h"
#include "worker/train/ring_exchange.h"
#include "worker/train/sync_exchange.h"

namespace shoal {
namespace {

template <typename Exchange>
std::unique_ptr<GradientExchange> Make(ExchangeParts parts) {
  return std::make_unique<Exchange>(parts.shards);
}

// A ring of ranks: RingExchange, or one made of it.
template <typename Exchange>
std::unique_ptr<GradientExchange> MakeRing(ExchangeParts parts) {
  const ExchangeSetup& setup = parts.setup;
  RingExchangeOptions options;
  options.round.model = *setup.model;
  options.round.bucket_bytes = setup.ring.bucket_bytes;
  options.round.name = setup.rank_name;
  options.start = std::move(parts.start);
  options.marked = setup.marked;
  options.renews = setup.renews;
  options.board = setup.board;
  options.overlap = !setup.clips;
  options.warn = [logger = setup.logger](const std::string& line) {
    logger->Warn(line);
  };
  return std::make_unique<Exchange>(std::move(options), parts.shards,
                                    std::move(parts.collective), setup.strand);
}

void Nothing(const JobFlags&, CoordinatorOptions*) {}

void KeepNear(const JobFlags& flags, CoordinatorOptions* options) {
  options->ssp = SspClocksOptions{
      .bound = static_cast<uint32_t>(flags.modes.ssp_bound),
      .depth = static_cast<uint32_t>(flags.PipelineDepth())};
}

void CloseSteps(const JobFlags& flags, CoordinatorOptions* options) {
  options->lanes = true;
  options->backup_workers = static_cast<uint32_t>(flags.modes.backup_workers);
}

void JoinInRing(const JobFlags&, CoordinatorOptions* options) {
  options->lanes = true;
  options->ring = true;
}

// In the order of kTrainingModes.
constexpr TrainingModeKind kKinds[] = {
    {TrainingMode::kAsync, Make<PushExchange>, Nothing},
    {TrainingMode::kSsp, Make<PushExchange>, KeepNear},
    {TrainingMode::kSync, Make<SyncExchange>, CloseSteps, StepLoss::kSum,
     /*steps=*/true},
    {TrainingMode::kRing, MakeRing<RingExchange>, JoinInRing, StepLoss::kSum,
     /*steps=*/false, /*ring=*/true, /*servers=*/false},
    {TrainingMode::kHybrid, MakeRing<HybridExchange>, JoinInRing,
     StepLoss::kSum, /*steps=*/false, /*ring=*/true},
};

constexpr bool ModesAgree() {
  if (std::size(kKinds) != std::size(kTrainingModes)) return false;
  for (size_t i = 0; i < std::size(kKinds); ++i) {
    if (kKinds[i].mode != kTrainingModes[i].value) return false;
    if (static_cast<size_t>(kKinds[i].mode) != i) return false;
    if (kKinds[i].ring != kTrainingModes[i].copies) return false;
    if (kKinds[i].servers != kTrainingModes[i].servers) return false;
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
