#include "tests/harness/simulated_network.h"

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/harness/simulated_calls.h"

namespace shoal {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Remembers the pushes that came to it.
class Shard final : public ParameterService {
 public:
  struct Came {
    uint32_t batch = 0;
    std::vector<FeatureId> ids;
    std::vector<float> gradients;
  };

  void Pull(PullRequest, absl::Duration, Done<PullReply> done) override {
    std::move(done)(PullReply{});
  }
  void Push(PushRequest request, absl::Duration,
            Done<PushReply> done) override {
    Came came{request.batches[0].id.index};
    for (const TablePush& table : request.tables) {
      came.ids.assign(table.ids.begin(), table.ids.end());
      came.gradients.assign(table.gradients.begin(), table.gradients.end());
    }
    pushes.push_back(std::move(came));
    std::move(done)(PushReply{});
  }
  void Stats(StatsRequest, absl::Duration, Done<StatsReply> done) override {
    std::move(done)(StatsReply{});
  }

  std::vector<Came> pushes;
};

class SimulatedNetworkTest : public testing::Test {
 protected:
  explicit SimulatedNetworkTest() { Use(NetworkFaults{}); }
  ~SimulatedNetworkTest() override {
    for (const auto& process : processes_) process->Kill();
  }

  void Use(const NetworkFaults& faults) {
    network_ = std::make_unique<SimulatedNetwork>(&simulator_, 1, faults);
  }
  SimulatedProcess* Start(const std::string& name) {
    processes_.push_back(std::make_unique<SimulatedProcess>(
        &simulator_, name, static_cast<int>(processes_.size())));
    return processes_.back().get();
  }
  std::shared_ptr<Shard> Serve(SimulatedProcess* process) {
    auto shard = std::make_shared<Shard>();
    network_->Listen("a", process)->parameters = shard;
    return shard;
  }
  std::unique_ptr<SimulatedCalls> Connect(SimulatedProcess* process) {
    return std::make_unique<SimulatedCalls>(
        network_.get(), process->Strand("train"), *process, "a", "");
  }
  void Push(SimulatedCalls* calls, uint32_t batch) {
    PushRequest request;
    request.identity.worker = {1, 1};
    request.batches = {{.id = {0, 0, batch}}};
    request.tables = {{0, ids_, gradients_}};
    calls->Push(request, absl::Seconds(1),
                [this](absl::StatusOr<PushReply> reply) {
                  ended_.push_back(reply.status().code());
                });
  }

  Simulator simulator_;
  std::vector<std::unique_ptr<SimulatedProcess>> processes_;
  std::unique_ptr<SimulatedNetwork> network_;
  const std::vector<FeatureId> ids_ = {3, 4, 5};
  const std::vector<float> gradients_ = {1, 2, 3};
  std::vector<absl::StatusCode> ended_;  // pushes
};

TEST_F(SimulatedNetworkTest, AMessageComesToWhoListensWhenItArrives) {
  SimulatedProcess* const first = Start("ps 0");
  const std::shared_ptr<Shard> of_first = Serve(first);
  const auto calls = Connect(Start("worker 0"));
  Push(calls.get(), 7);
  network_->Kill(first);
  EXPECT_TRUE(network_->Refuses("a"));
  const std::shared_ptr<Shard> of_second = Serve(Start("ps 0"));
  simulator_.RunUntilIdle();
  EXPECT_THAT(of_first->pushes, IsEmpty());
  ASSERT_EQ(of_second->pushes.size(), 1u);
  EXPECT_EQ(of_second->pushes[0].ids, ids_);
  EXPECT_THAT(ended_, ElementsAre(absl::StatusCode::kOk));
}

TEST_F(SimulatedNetworkTest, RefusedWhereNoProcessListensSilentWhereNoHostIs) {
  SimulatedProcess* const server = Start("ps 0");
  Serve(server);
  const auto calls = Connect(Start("worker 0"));
  network_->Kill(server);
  Push(calls.get(), 1);
  simulator_.RunFor(absl::Milliseconds(100));
  EXPECT_THAT(ended_, ElementsAre(absl::StatusCode::kUnavailable));
  SimulatedProcess* const next = Start("ps 0");
  Serve(next);
  network_->Kill(next, /*silently=*/true);
  EXPECT_FALSE(network_->Refuses("a"));
  Push(calls.get(), 2);
  simulator_.RunUntilIdle();
  EXPECT_THAT(ended_, ElementsAre(absl::StatusCode::kUnavailable,
                                  absl::StatusCode::kDeadlineExceeded));
}

TEST_F(SimulatedNetworkTest, TheEndOfAClientCancelsItsCallsNotItsMessages) {
  const std::shared_ptr<Shard> shard = Serve(Start("ps 0"));
  auto calls = Connect(Start("worker 0"));
  Push(calls.get(), 7);
  calls = nullptr;
  simulator_.RunUntilIdle();
  EXPECT_THAT(ended_, ElementsAre(absl::StatusCode::kCancelled));
  EXPECT_EQ(shard->pushes.size(), 1u);
}

TEST_F(SimulatedNetworkTest, ALargePushTravelsInChunksAndArrivesWhole) {
  NetworkFaults faults;
  faults.chunk_bytes = 16;
  faults.duplicate = 0.3;
  Use(faults);
  const std::shared_ptr<Shard> shard = Serve(Start("ps 0"));
  const auto calls = Connect(Start("worker 0"));
  Push(calls.get(), 7);
  simulator_.RunUntilIdle();
  EXPECT_GT(network_->counts().chunks, 3u);
  ASSERT_EQ(shard->pushes.size(), 1u);
  EXPECT_EQ(shard->pushes[0].batch, 7u);
  EXPECT_EQ(shard->pushes[0].ids, ids_);
  EXPECT_EQ(shard->pushes[0].gradients, gradients_);
}

TEST_F(SimulatedNetworkTest, WithoutALossTheOtherMessagesTakeAsLongAsBefore) {
  const auto delays = [this](double drop) {
    NetworkFaults faults;
    faults.drop = drop;
    Use(faults);
    std::map<uint64_t, absl::Duration> seen;
    network_->Observe([&seen](uint64_t message, absl::Duration delay) {
      EXPECT_TRUE(seen.emplace(message, delay).second);
    });
    processes_.push_back(
        std::make_unique<SimulatedProcess>(&simulator_, "ps 0", 1));
    const std::shared_ptr<Shard> shard = Serve(processes_.back().get());
    processes_.push_back(
        std::make_unique<SimulatedProcess>(&simulator_, "worker 0", 1));
    const auto calls = Connect(processes_.back().get());
    for (uint32_t batch = 0; batch < 50; ++batch) {
      Push(calls.get(), batch);
      simulator_.RunFor(absl::Seconds(2));
    }
    network_ = nullptr;
    return seen;
  };
  const std::map<uint64_t, absl::Duration> all = delays(0);
  int lost = 0;
  for (const auto& [message, delay] : delays(0.3)) {
    ASSERT_EQ(all.count(message), 1u);
    if (delay == absl::InfiniteDuration()) {
      ++lost;
    } else {
      EXPECT_EQ(all.at(message), delay);
    }
  }
  EXPECT_GT(lost, 5);
  EXPECT_EQ(all.size(), 100u);  // each push and its answer
}

}  // namespace
}  // namespace shoal
