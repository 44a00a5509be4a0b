// Pushes of several batches to a shard of threads. The contract of one push
// after the other is tests/conformance/push_list_conformance.cc.
#include <atomic>
#include <barrier>
#include <cstdint>
#include <random>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "tests/ps/shard_set.h"

namespace shoal {
namespace {

constexpr uint64_t kFeatures = 40;
constexpr int kDense = 7;

ModelSpec Model(OptimizerKind kind) {
  OptimizerSpec optimizer;
  optimizer.kind = kind;
  optimizer.learning_rate = 0.25f;
  ModelSpec model;
  model.model = "test";
  model.tables = {{"ids", kFeatures, {{"w", 1, optimizer, {}}}}};
  model.dense = {{"bias", {kDense}, optimizer, {}}};
  return model;
}

// A push is one update: Adam's t and the count go up by one.
TEST(PushList, MovesTheModelAsOneBatchDoes) {
  ShardSet one(Model(OptimizerKind::kAdam), PartitionKind::kMod, 2);
  ShardSet lists(Model(OptimizerKind::kAdam), PartitionKind::kMod, 2);
  for (uint32_t i = 0; i < 10; ++i) {
    BatchGradient batch;
    batch.batch = {0, 0, i};
    batch.rows[i] = {1};
    batch.rows[i + 11] = {-0.5f};
    batch.dense.assign(kDense, i % 3 - 0.75f);
    BatchGradient list = batch;
    for (uint32_t k = 0; k < 4 * i; ++k) {
      list.more.push_back({.id = {1, i, k}, .rejected = k % 4 == 3});
    }
    for (int s = 0; s < 2; ++s) {
      ASSERT_EQ(one.Push(s, batch)->version.count, i + 1);
      ASSERT_EQ(lists.Push(s, list)->version.count, i + 1);
    }
  }
  EXPECT_EQ(lists.Digest(), one.Digest());
  EXPECT_EQ(lists.Stats(0).pushes_applied, 10 + 3 * 45);
  EXPECT_EQ(lists.Stats(0).pushes_rejected, 45);
  EXPECT_EQ(lists.shard(0).TotalMarks(), lists.shard(1).TotalMarks());
}

// One round: threads push lists of one to three of 20 batches. A list brings 1
// to the row of each of its batches, so a row says how often its batch was
// applied, and 1 to each dense element, which say how many updates there were.
class OverlappingLists {
 public:
  explicit OverlappingLists(uint64_t seed) {
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([this, t, seed] { Run(&won_[t], 100 * seed + t); });
    }
    for (std::thread& thread : threads) thread.join();
  }

  void Check() {
    std::vector<float> expected(kBatches);
    for (const auto& lists : won_) {
      for (const std::vector<BatchId>& list : lists) {
        ++updates;
        for (const BatchId& id : list) ++expected[id.index];
      }
    }
    std::vector<FeatureId> ids(kBatches);
    for (uint32_t i = 0; i < kBatches; ++i) ids[i] = i;
    EXPECT_EQ(shards_.Rows(ids), expected);
    for (const float times : expected) EXPECT_LE(times, 1);
    EXPECT_EQ(shards_.Dense()[0], updates);
    const StatsReply stats = shards_.Stats(0);
    EXPECT_EQ(stats.version.count, updates);
    float marked = 0;
    for (const float times : expected) marked += times;
    EXPECT_EQ(stats.pushes_applied, marked);
  }

  int updates = 0;
  std::atomic<int> refused = 0;
  std::atomic<int> repeats = 0;

 private:
  static constexpr uint32_t kBatches = 20;
  static constexpr int kThreads = 4;

  static BatchGradient RandomList(std::mt19937_64* random) {
    BatchGradient list;
    const uint32_t size = 1 + (*random)() % 3;
    const uint32_t step = 1 + (*random)() % 2;
    const uint32_t first = (*random)() % (kBatches - 2 * step);
    for (uint32_t k = 0; k < size; ++k) {
      const uint32_t index = first + k * step;
      (k == 0 ? list.batch : list.more.emplace_back().id) = {0, 0, index};
      list.rows[index] = {-4};  // +1 at rate 1/4
    }
    list.dense.assign(kDense, -4);
    return list;
  }

  void Run(std::vector<std::vector<BatchId>>* won, uint64_t seed) {
    std::mt19937_64 random(seed);
    for (int i = 0; i < 15; ++i) {
      const BatchGradient list = RandomList(&random);
      start_.arrive_and_wait();
      const auto reply = shards_.Push(0, list);
      if (!reply.ok()) {
        ++refused;
        EXPECT_TRUE(absl::IsFailedPrecondition(reply.status()) ||
                    absl::IsUnavailable(reply.status()))
            << reply.status();
      } else if (reply->repeat) {
        ++repeats;
      } else {
        std::vector<BatchId>& ids = won->emplace_back();
        ids.push_back(list.batch);
        for (const PushedBatch& batch : list.more) ids.push_back(batch.id);
      }
    }
  }

  ShardSet shards_{Model(OptimizerKind::kSgd), PartitionKind::kFixedSize, 1};
  std::barrier<> start_{kThreads};
  std::vector<std::vector<BatchId>> won_[kThreads];
};

TEST(PushList, RacingListsThatOverlapAreAppliedWholeOrNotAtAll) {
  int updates = 0, refused = 0, repeats = 0;
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    OverlappingLists round(seed);
    round.Check();
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
    updates += round.updates;
    refused += round.refused;
    repeats += round.repeats;
  }
  EXPECT_GT(updates, 100);
  EXPECT_GT(refused, 100);
  EXPECT_GT(repeats, 100);
}

}  // namespace
}  // namespace shoal
