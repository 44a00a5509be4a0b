// Gloo under the conformance suite, where it can be: it is a yardstick, which
// no program links.
#include <memory>
#include <vector>

#include "base/clock.h"
#include "base/thread_executor.h"
#include "gtest/gtest.h"
#include "tests/conformance/collective_conformance.h"
#include "tests/conformance/gloo_collective.h"

namespace shoal {
namespace {

class GlooRanks final : public CollectiveHarness {
 public:
  explicit GlooRanks(const CollectiveConfig& config) {
    std::vector<Executor*> executors;
    for (int r = 0; r < config.size; ++r) {
      executors_.push_back(std::make_unique<ThreadExecutor>(
          ThreadExecutorOptions{.name = "rank"}, &clock_));
      executors.push_back(executors_.back().get());
    }
    ranks_ = MakeGlooCollectives(config.max_part_bytes, executors);
  }
  ~GlooRanks() override { ranks_.clear(); }

  bool connected() const { return !ranks_.empty(); }
  Collective& rank(int rank) override {
    return *ranks_[static_cast<size_t>(rank)];
  }
  void Destroy(int rank) override {
    ranks_[static_cast<size_t>(rank)] = nullptr;
  }

 private:
  RealClock clock_;
  std::vector<std::unique_ptr<ThreadExecutor>> executors_;
  std::vector<std::unique_ptr<Collective>> ranks_;
};

std::unique_ptr<CollectiveHarness> MakeGloo(const CollectiveConfig& config) {
  auto ranks = std::make_unique<GlooRanks>(config);
  if (!ranks->connected()) return nullptr;
  return ranks;
}

INSTANTIATE_TEST_SUITE_P(Gloo, CollectiveConformance,
                         CollectiveCases({"gloo", MakeGloo,
                                          /*has_our_order=*/false,
                                          /*survives_losses=*/false}),
                         CollectiveCaseName);

}  // namespace
}  // namespace shoal
