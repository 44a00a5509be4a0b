#include "worker/collective/local_collective.h"

#include <memory>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/thread_executor.h"
#include "gtest/gtest.h"
#include "tests/conformance/collective_conformance.h"
#include "tests/harness/simulated_executor.h"

namespace shoal {
namespace {

LocalCollectiveOptions OptionsOf(const CollectiveConfig& config) {
  LocalCollectiveOptions options;
  options.reduction = config.reduction;
  options.max_part_bytes = config.max_part_bytes;
  return options;
}

// One thread for each rank.
class ThreadedRanks final : public CollectiveHarness {
 public:
  explicit ThreadedRanks(const CollectiveConfig& config) {
    std::vector<Executor*> executors;
    for (int r = 0; r < config.size; ++r) {
      executors_.push_back(std::make_unique<ThreadExecutor>(
          ThreadExecutorOptions{.name = "rank"}, &clock_));
      executors.push_back(executors_.back().get());
    }
    ranks_ = MakeLocalCollectives(OptionsOf(config), executors);
  }
  ~ThreadedRanks() override { ranks_.clear(); }

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

// All ranks on one thread, in a random order.
class SimulatedRanks final : public CollectiveHarness {
 public:
  explicit SimulatedRanks(const CollectiveConfig& config) : simulator_(17) {
    std::vector<Executor*> executors;
    for (int r = 0; r < config.size; ++r) {
      executors_.push_back(std::make_unique<SimulatedExecutor>(&simulator_));
      executors.push_back(executors_.back().get());
    }
    ranks_ = MakeLocalCollectives(OptionsOf(config), executors);
  }
  ~SimulatedRanks() override {
    ranks_.clear();
    Settle();
    executors_.clear();
  }

  Collective& rank(int rank) override {
    return *ranks_[static_cast<size_t>(rank)];
  }
  void Destroy(int rank) override {
    ranks_[static_cast<size_t>(rank)] = nullptr;
  }
  void Settle() override { simulator_.RunUntilIdle(); }
  bool takes_threads() const override { return false; }

 private:
  Simulator simulator_;
  std::vector<std::unique_ptr<SimulatedExecutor>> executors_;
  std::vector<std::unique_ptr<Collective>> ranks_;
};

// A timer for every operation of a long job would be a leak.
TEST(LocalCollectiveTest, AnOperationWithoutATimeoutLeavesNoTimer) {
  Simulator simulator;
  SimulatedExecutor executor(&simulator);
  auto ranks = MakeLocalCollectives({}, {&executor, &executor});
  std::vector<float> values = {1, 2};
  absl::Status status;
  ranks[0]->AllReduce({}, absl::MakeSpan(values), absl::InfiniteDuration(),
                      [&](absl::StatusOr<CollectiveReply> reply) {
                        status = reply.status();
                      });
  EXPECT_EQ(simulator.pending(), 0u);
  ranks[1] = nullptr;
  simulator.RunUntilIdle();
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
}

INSTANTIATE_TEST_SUITE_P(
    Local, CollectiveConformance,
    CollectiveCases({"local", [](const CollectiveConfig& config) {
                       return std::make_unique<ThreadedRanks>(config);
                     }}),
    CollectiveCaseName);
INSTANTIATE_TEST_SUITE_P(
    Simulated, CollectiveConformance,
    CollectiveCases({"simulated", [](const CollectiveConfig& config) {
                       return std::make_unique<SimulatedRanks>(config);
                     }}),
    CollectiveCaseName);

}  // namespace
}  // namespace shoal
