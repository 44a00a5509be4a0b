// Ranks in threads, whose pushes arrive in any order, against the serial
// oracle.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "base/stable_hash.h"
#include "ps/shard/step_shard.h"
#include "tests/conformance/completion.h"
#include "tests/ps/shard_set.h"
#include "tests/ps/step_push.h"

namespace shoal {
namespace {

// A job of ranks and shards on threads. Each step is closed for all shards when
// shard 0 has a push of every rank.
class StepJob {
 public:
  StepJob(const ModelSpec& model, int shards)
      : set_(model, PartitionKind::kFixedSize, shards) {
    for (int s = 0; s < shards; ++s) {
      steps_.push_back(std::make_shared<StepShard>(
          StepGatherOptions{.reports = s == 0}, model,
          std::shared_ptr<ParameterShard>(std::shared_ptr<void>(),
                                          &set_.shard(s)),
          &executor_, [] {}));
    }
  }

  // Trains steps 1 to `last`: each rank is a thread, which pushes to the shards
  // in an order of its own.
  void Train(uint32_t ranks, uint32_t last, uint64_t seed) {
    std::vector<std::thread> threads;
    for (uint32_t rank = 0; rank < ranks; ++rank) {
      threads.emplace_back([this, rank, last, seed] {
        std::mt19937_64 random(StableHashCombine(seed, rank));
        for (uint32_t step = 1; step <= last; ++step) {
          PushToAll(rank, step, random);
        }
      });
    }
    std::vector<uint32_t> all(ranks);
    for (uint32_t rank = 0; rank < ranks; ++rank) all[rank] = rank;
    std::mt19937_64 random(seed);
    for (uint32_t step = 1; step <= last; ++step) {
      for (uint32_t parked = 0; parked < ranks;) {
        parked += steps_[0]->TakeReports().size();
        std::this_thread::yield();
      }
      std::vector<std::shared_ptr<StepShard>> order = steps_;
      std::shuffle(order.begin(), order.end(), random);
      for (const auto& shard : order) {
        EXPECT_TRUE(shard->Close(ClosedWith(step, all)).ok());
      }
    }
    for (std::thread& thread : threads) thread.join();
  }

  ShardSet& set() { return set_; }

 private:
  void PushToAll(uint32_t rank, uint32_t step, std::mt19937_64& random) {
    const BatchGradient gradient = GradientOf(rank, step);
    std::vector<int> order(steps_.size());
    for (size_t s = 0; s < order.size(); ++s) order[s] = static_cast<int>(s);
    std::shuffle(order.begin(), order.end(), random);
    std::vector<std::unique_ptr<StepPush>> pushes;
    std::vector<Completion<PushReply>> replies(order.size());
    for (size_t i = 0; i < order.size(); ++i) {
      const int s = order[i];
      pushes.push_back(std::make_unique<StepPush>(
          set_.map(), s, set_.Identity(s), rank, step, gradient));
      replies[i].Start([&](Done<PushReply> done) {
        steps_[s]->Push(pushes[i]->request, absl::Seconds(60),
                        std::move(done));
      });
    }
    for (Completion<PushReply>& completion : replies) {
      const auto reply = completion.Wait();
      ASSERT_TRUE(reply.ok()) << reply.status();
      EXPECT_EQ(reply->verdict, Verdict::kApplied);
      EXPECT_FALSE(reply->repeat);
      EXPECT_FALSE(reply->dropped);
    }
  }

  RealClock clock_;
  ThreadExecutor executor_{{.name = "steps", .threads = 2}, &clock_};
  ShardSet set_;
  std::vector<std::shared_ptr<StepShard>> steps_;
};

TEST(StepShardsTest, EqualASerialSumBitForBit) {
  constexpr uint32_t kSteps = 12;
  for (const OptimizerKind kind :
       {OptimizerKind::kSgd, OptimizerKind::kAdagrad, OptimizerKind::kAdam}) {
    for (const uint32_t ranks : {1, 2, 3, 4}) {
      std::vector<uint32_t> all(ranks);
      for (uint32_t rank = 0; rank < ranks; ++rank) all[rank] = rank;
      const uint64_t serial = SerialDigest(
          kind, std::vector<std::vector<uint32_t>>(kSteps, all));
      for (const int shards : {1, 2, 3}) {
        StepJob job(StepModel(kind), shards);
        job.Train(ranks, kSteps, /*seed=*/StableHashCombine(ranks, shards));
        EXPECT_EQ(job.set().Digest(), serial)
            << ranks << " ranks, " << shards << " shards";
        for (int s = 0; s < shards; ++s) {
          const StatsReply stats = job.set().Stats(s);
          EXPECT_EQ(stats.version.count, kSteps) << "a step is one push";
          EXPECT_EQ(stats.pushes_applied, kSteps * ranks);
          EXPECT_EQ(stats.repeats_refused, 0u);
        }
      }
    }
  }
}

}  // namespace
}  // namespace shoal
