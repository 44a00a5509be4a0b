// What a shard promises of a push, whatever the optimizer: it is one step of
// the kernel, it counts once however often it is sent, and pushes that race on
// one row all count.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "core/sound_gradient.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ps/optimizer/optimizer_step.h"
#include "tests/ps/shard_set.h"

namespace shoal {
namespace {

constexpr uint64_t kFeatures = 40;
constexpr int kDim = 5;
constexpr int kDense = 12;

OptimizerSpec Spec(OptimizerKind kind) {
  OptimizerSpec spec;
  spec.kind = kind;
  spec.learning_rate = 0.25f;
  spec.adagrad_initial_accumulator = 0.125f;
  spec.ftrl_l1 = 0.001f;
  spec.ftrl_l2 = 0.5f;
  return spec;
}

// Dense variables have no rows; Adagrad stands in for its row-wise twin.
OptimizerSpec DenseSpecOf(OptimizerSpec spec) {
  if (spec.kind == OptimizerKind::kRowwiseAdagrad) {
    spec.kind = OptimizerKind::kAdagrad;
  }
  return spec;
}

// One table of one column and one dense block, from uniform initial values.
ModelSpec Model(const OptimizerSpec& optimizer, int dim = kDim) {
  const InitializerSpec uniform = {InitializerKind::kUniform, 1};
  ModelSpec model;
  model.model = "test";
  model.seed = 3;
  model.tables = {{"ids", kFeatures, {{"v", dim, optimizer, uniform}}}};
  model.dense = {{"b", {kDense}, DenseSpecOf(optimizer), uniform}};
  return model;
}

ShardSet OneShard(const OptimizerSpec& optimizer, int dim = kDim) {
  return ShardSet(Model(optimizer, dim), PartitionKind::kMod, 1);
}

class EveryOptimizer : public testing::TestWithParam<OptimizerKind> {
 protected:
  const OptimizerSpec spec_ = Spec(GetParam());
  std::mt19937_64 random_{11};

  float Number() {
    return static_cast<float>(static_cast<int>(random_() % 2001) - 1000) / 1e3f;
  }
  std::vector<float> Numbers(int count) {
    std::vector<float> numbers(count);
    for (float& number : numbers) number = Number();
    return numbers;
  }
  // Batch `index`, with gradients of a few rows and of the dense variable.
  BatchGradient RandomBatch(uint32_t index) {
    BatchGradient batch;
    batch.batch = {0, 0, index};
    for (int i = 0; i < 6; ++i) {
      batch.rows[random_() % kFeatures] = Numbers(kDim);
    }
    batch.dense = Numbers(kDense);
    return batch;
  }
};

// One variable's weights and slots beside the shard's.
struct Shadow {
  OptimizerSpec spec;
  std::vector<float> weights;
  std::vector<float> slots;

  Shadow(const OptimizerSpec& spec, std::vector<float> initial)
      : spec(spec),
        weights(std::move(initial)),
        slots(spec.slot_floats(static_cast<int64_t>(weights.size()))) {
    InitialiseSlots(spec, absl::MakeSpan(slots));
  }
  void Apply(uint64_t t, const std::vector<float>& gradient) {
    OptimizerStep(spec, t).Apply(gradient, absl::MakeSpan(weights),
                                 absl::MakeSpan(slots));
  }
};

// Rows that a push does not name stay where they are, also with L2, and a row
// that comes late takes its first step at the shard's t and not at its own.
TEST_P(EveryOptimizer, APushIsOneStepOfTheKernel) {
  OptimizerSpec spec = spec_;
  spec.l2 = 0.0625f;
  spec.warmup_batches = 4;
  ShardSet shards = OneShard(spec);
  Shadow seven(spec, shards.Rows({7}));
  Shadow late(spec, shards.Rows({9}));
  Shadow dense(DenseSpecOf(spec), shards.Dense());
  for (uint64_t t = 1; t <= 8; ++t) {
    BatchGradient batch;
    batch.batch = {0, 0, static_cast<uint32_t>(t)};
    batch.rows[7] = Numbers(kDim);
    if (t >= 3) batch.rows[9] = Numbers(kDim);
    batch.dense = Numbers(kDense);
    ASSERT_TRUE(shards.Push(0, batch).ok());
    seven.Apply(t, batch.rows[7]);
    if (t >= 3) late.Apply(t, batch.rows[9]);
    dense.Apply(t, batch.dense);
    EXPECT_EQ(shards.Rows({7}), seven.weights) << t;
    EXPECT_EQ(shards.Rows({9}), late.weights) << t;
    EXPECT_EQ(shards.Dense(), dense.weights) << t;
  }
}

// What passes for sound leaves numbers behind, however often it comes.
TEST_P(EveryOptimizer, TheLargestGradientLeavesNumbers) {
  Shadow row(spec_, {1, -1, 0});
  for (uint64_t t = 1; t <= 1000; ++t) {
    row.Apply(t, {kLargestGradient, -kLargestGradient, 1});
  }
  for (const float weight : row.weights) EXPECT_TRUE(std::isfinite(weight));
  for (const float slot : row.slots) EXPECT_TRUE(std::isfinite(slot));
}

// With L2 of the whole table a push that names no row moves all the same, and
// one that names a row moves it once. A row not in existence stays so.
TEST_P(EveryOptimizer, L2OfTheWholeTableMovesEveryRowOnceAPush) {
  OptimizerSpec spec = spec_;
  spec.l2 = 0.5f;
  spec.l2_scope = L2Scope::kTable;
  ShardSet shards = OneShard(spec);
  Shadow seven(spec, shards.Rows({7}));
  Shadow nine(spec, shards.Rows({9}));
  const std::vector<float> zeros(kDim);
  for (uint64_t t = 1; t <= 9; ++t) {
    BatchGradient batch;
    batch.batch = {0, 0, static_cast<uint32_t>(t)};
    if (t % 3 == 1) batch.rows[7] = Numbers(kDim);
    if (t == 4) batch.rows[9] = Numbers(kDim);
    ASSERT_TRUE(shards.Push(0, batch).ok());
    seven.Apply(t, batch.rows.count(7) != 0 ? batch.rows[7] : zeros);
    nine.Apply(t, batch.rows.count(9) != 0 ? batch.rows[9] : zeros);
    EXPECT_EQ(shards.Rows({7}), seven.weights) << t;
    EXPECT_EQ(shards.Rows({9}), nine.weights) << t;
  }
  EXPECT_EQ(shards.Stats(0).rows, 2);
}

TEST_P(EveryOptimizer, HoldsWhatItsSlotsTake) {
  ShardSet shards = OneShard(spec_);
  shards.Touch({1, 2, 3});
  const int64_t row = kDim + spec_.slot_floats(kDim);
  const int64_t dense = kDense + DenseSpecOf(spec_).slot_floats(kDense);
  EXPECT_EQ(shards.Stats(0).bytes, 4 * (3 * row + dense));
}

// Sent 1 to 5 times, in any order after the first copy.
TEST_P(EveryOptimizer, RepeatsChangeNothing) {
  std::vector<BatchGradient> batches;
  for (uint32_t i = 0; i < 30; ++i) batches.push_back(RandomBatch(i));
  ShardSet once = OneShard(spec_);
  for (const BatchGradient& batch : batches) {
    ASSERT_TRUE(once.Push(0, batch).ok());
  }
  ShardSet shards = OneShard(spec_);
  uint64_t injected = 0;
  for (size_t i = 0; i < batches.size(); ++i) {
    ASSERT_FALSE(shards.Push(0, batches[i])->repeat);
    for (uint64_t copies = random_() % 5; copies > 0; --copies) {
      const auto reply = shards.Push(0, batches[random_() % (i + 1)]);
      ASSERT_TRUE(reply.ok() && reply->repeat) << reply.status();
      ++injected;
    }
  }
  EXPECT_GT(injected, 0);
  EXPECT_EQ(shards.Stats(0).repeats_refused, injected);
  EXPECT_EQ(shards.Digest(), once.Digest());
  // Slots and counts are the same too: they decide the next step.
  const BatchGradient next = RandomBatch(30);
  ASSERT_TRUE(once.Push(0, next).ok() && shards.Push(0, next).ok());
  EXPECT_EQ(shards.Digest(), once.Digest());
}

// Four threads send every one of the pushes, each in an order of its own, so
// that four copies of each race. All pushes carry the same gradient: then any
// order leaves the same slots, and the same weights too but for Adam, whose
// rate depends on the number that a push got. The row is long, so that updates
// without its lock would meet.
TEST_P(EveryOptimizer, RacingPushesToOneRowCountOnceEach) {
  constexpr int kLong = 1 << 14;
  constexpr uint32_t kPushes = 100;
  constexpr int kThreads = 4;
  const auto gradient_of = [](uint32_t index) {
    BatchGradient batch;
    batch.batch = {0, 0, index};
    for (int i = 0; i < kLong; ++i) {
      batch.rows[7].push_back(static_cast<float>(i % 9 - 4) / 4);
    }
    batch.dense.assign(kDense, 0.5f);
    return batch;
  };
  std::vector<BatchGradient> gradients;
  for (uint32_t i = 0; i <= kPushes; ++i) gradients.push_back(gradient_of(i));
  ShardSet serial = OneShard(spec_, kLong);
  ShardSet racing = OneShard(spec_, kLong);
  for (uint32_t i = 0; i < kPushes; ++i) {
    ASSERT_TRUE(serial.Push(0, gradients[i]).ok());
  }
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      std::vector<uint32_t> order(kPushes);
      for (uint32_t i = 0; i < kPushes; ++i) order[i] = i;
      std::shuffle(order.begin(), order.end(), std::mt19937_64(t));
      for (const uint32_t i : order) {
        EXPECT_TRUE(racing.Push(0, gradients[i]).ok());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(racing.Stats(0).pushes_applied, kPushes);
  EXPECT_EQ(racing.Stats(0).repeats_refused, kPushes * (kThreads - 1));
  if (GetParam() != OptimizerKind::kAdam) {
    EXPECT_EQ(racing.Digest(), serial.Digest());
  }
  // One push more moves both alike, which it would not from other slots.
  const auto movement = [&](ShardSet* shards) {
    std::vector<float> moved = shards->Rows({7});
    EXPECT_TRUE(shards->Push(0, gradients[kPushes]).ok());
    const std::vector<float> after = shards->Rows({7});
    for (size_t i = 0; i < moved.size(); ++i) moved[i] -= after[i];
    return moved;
  };
  const std::vector<float> expected = movement(&serial);
  const std::vector<float> moved = movement(&racing);
  for (size_t i = 0; i < moved.size(); ++i) {
    ASSERT_NEAR(moved[i], expected[i], 1e-4 * std::abs(expected[i]) + 1e-6)
        << i;
  }
}

INSTANTIATE_TEST_SUITE_P(
    AllKinds, EveryOptimizer,
    testing::Values(OptimizerKind::kSgd, OptimizerKind::kAdagrad,
                    OptimizerKind::kRowwiseAdagrad, OptimizerKind::kAdam,
                    OptimizerKind::kFtrl),
    [](const auto& info) { return std::string(OptimizerName(info.param)); });

// The schedule goes by the pushes that the shard admitted to be applied:
// repeats and rejected batches are not among them, batches of other rows are.
TEST(WarmUp, CountsThePushesThatTheShardApplies) {
  OptimizerSpec spec = Spec(OptimizerKind::kSgd);
  spec.learning_rate = 1;
  spec.warmup_batches = 4;
  ModelSpec model = Model(spec);
  model.tables[0].columns[0].initializer = {};
  ShardSet shards(model, PartitionKind::kMod, 1);
  uint32_t index = 0;
  const auto push = [&](FeatureId id, float gradient) {
    BatchGradient batch;
    batch.batch = {0, 0, index++};
    batch.rows[id].assign(kDim, gradient);
    ASSERT_TRUE(shards.Push(0, batch).ok());
    ASSERT_TRUE(shards.Push(0, batch)->repeat);
  };
  push(7, -1);                                       // t = 1: 1/4
  push(7, std::numeric_limits<float>::quiet_NaN());  // rejected
  push(8, -1);                                       // t = 2: 2/4
  push(7, -1);                                       // t = 3: 3/4
  push(7, -1);                                       // t = 4: 1
  push(7, -1);                                       // t = 5: 1
  EXPECT_THAT(shards.Rows({7}), testing::Each(3));
  EXPECT_THAT(shards.Rows({8}), testing::Each(0.5f));
}

}  // namespace
}  // namespace shoal
