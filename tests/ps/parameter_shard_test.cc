#include "ps/shard/parameter_shard.h"

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cstdint>
#include <future>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "core/canary.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/conformance/completion.h"
#include "tests/harness/simulated_executor.h"
#include "tests/ps/shard_set.h"

namespace shoal {
namespace {

constexpr uint64_t kFeatures = 200;
constexpr int kRowDim = 3;
constexpr int kDense = 12 * 5 + 7;

ModelSpec Model(OptimizerKind kind, float rate) {
  OptimizerSpec optimizer;
  optimizer.kind = kind;
  optimizer.learning_rate = rate;
  ModelSpec model;
  model.model = "test";
  model.seed = 3;
  model.tables = {
      {"ids", kFeatures, {{"w", 1, optimizer, {}}, {"v", 2, optimizer, {}}}}};
  model.dense = {{"kernel", {12, 5}, optimizer, {}},
                 {"bias", {7}, optimizer, {}}};
  return model;
}

// SGD at a power of two on weights that start at 0 and gradients k / 64: every
// sum is exact, so that any order of any interleaving gives the same bits.
ModelSpec ExactModel() { return Model(OptimizerKind::kSgd, 0.25f); }

// The same in a dynamic table.
ModelSpec DynamicExactModel() {
  ModelSpec model = ExactModel();
  model.tables[0].feature_size = 0;
  return model;
}

ModelSpec RandomModel() {
  ModelSpec model = Model(OptimizerKind::kSgd, 0.25f);
  model.tables[0].columns[0].initializer = {InitializerKind::kUniform, 1};
  model.tables[0].columns[1].initializer = {InitializerKind::kTruncatedNormal,
                                            1};
  model.dense[0].initializer = {InitializerKind::kUniform, 1};
  model.dense[1].initializer = {InitializerKind::kTruncatedNormal, 1};
  return model;
}

std::vector<BatchGradient> ExactBatches(int count, uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto value = [&random] {
    return (static_cast<int>(random() % 129) - 64) / 64.0f;
  };
  std::vector<BatchGradient> batches(count);
  for (int i = 0; i < count; ++i) {
    batches[i].batch = {0, static_cast<uint32_t>(i / 10),
                        static_cast<uint32_t>(i % 10)};
    for (int k = 0; k < 20; ++k) {
      std::vector<float>& row = batches[i].rows[random() % kFeatures];
      row.clear();
      for (int d = 0; d < kRowDim; ++d) row.push_back(value());
    }
    for (int d = 0; d < kDense; ++d) batches[i].dense.push_back(value());
  }
  return batches;
}

// The digest after every batch was pushed once, one after the other, to the
// one shard of a serial run.
uint64_t SerialDigest(const std::vector<BatchGradient>& batches) {
  ShardSet serial(ExactModel(), PartitionKind::kFixedSize, 1);
  for (const BatchGradient& batch : batches) {
    EXPECT_TRUE(serial.Push(0, batch).ok());
  }
  return serial.Digest();
}

TEST(ParameterShard, CountsCanBeReadWhileItWorks) {
  ShardSet set(ExactModel(), PartitionKind::kFixedSize, 1,
               /*max_bytes=*/1 << 20);
  ParameterShard& shard = set.shard(0);
  const auto batches = ExactBatches(50, 7);
  std::atomic<bool> ended{false};
  std::thread reader([&] {
    uint64_t before = 0;
    while (!ended) {
      const ParameterShard::Counts counts = shard.Count();
      EXPECT_GE(counts.pushes_applied, before);
      EXPECT_LE(counts.bytes_held, counts.bytes_limit);
      EXPECT_LE(shard.Staleness().count(), batches.size());
      before = counts.pushes_applied;
    }
  });
  for (const BatchGradient& batch : batches) {
    ASSERT_TRUE(set.Push(0, batch).ok());
  }
  ended = true;
  reader.join();
  ASSERT_TRUE(set.Push(0, batches[0]).ok());
  const ParameterShard::Counts counts = shard.Count();
  const StatsReply stats = set.Stats(0);
  EXPECT_TRUE(counts.serving);
  EXPECT_EQ(counts.pushes_applied, 50u);
  EXPECT_EQ(counts.pushes_rejected, 0u);
  EXPECT_EQ(counts.repeats_refused, 1u);
  EXPECT_EQ(counts.rows, stats.rows);
  EXPECT_EQ(counts.bytes_limit, uint64_t{1} << 20);
  EXPECT_GE(counts.bytes_held, stats.bytes);
  shard.ServeUntil(absl::InfinitePast());
  EXPECT_FALSE(shard.Count().serving);
}

// A push of so many rows is being applied for milliseconds. Planted: `done`
// that does not wait for it.
TEST(ParameterShard, WhenLeasesHaveEndedAllTheirMarksAreThere) {
  constexpr uint64_t kRows = 300'000;
  ModelSpec model = ExactModel();
  model.tables[0].feature_size = kRows;
  ShardSet set(model, PartitionKind::kFixedSize, 1);
  ParameterShard& shard = set.shard(0);
  std::vector<FeatureId> ids(kRows);
  std::iota(ids.begin(), ids.end(), 0);
  const std::vector<float> gradients(kRows * kRowDim, 1);
  PushRequest push;
  push.identity = set.Identity(0);
  push.batches = {{.id = {9, 0, 0}, .lease = 5}};
  push.pulled = {push.identity.shard, 0};
  push.tables = {{.table = 0, .ids = ids, .gradients = gradients}};
  std::promise<absl::Status> pushed;
  std::thread pusher([&] {
    shard.Push(push, absl::Seconds(30), [&](absl::StatusOr<PushReply> reply) {
      pushed.set_value(reply.status());
    });
  });
  // Its staleness is measured when it is admitted.
  const absl::Time give_up = absl::Now() + absl::Seconds(30);
  while (shard.Staleness().count() == 0 && absl::Now() < give_up) {
    std::this_thread::yield();
  }
  std::promise<MarkDelta> ended;
  shard.EndLeases(5, [&] { ended.set_value(shard.TakeMarks()); });
  EXPECT_EQ(ended.get_future().get().marks.size(), 1u);
  pusher.join();
  EXPECT_EQ(pushed.get_future().get(), absl::OkStatus());
}

TEST(ParameterShard, AnyInterleavingOfExactPushesEqualsTheSerialRun) {
  const auto batches = ExactBatches(100, 1);
  const uint64_t expected = SerialDigest(batches);
  for (const PartitionKind kind :
       {PartitionKind::kFixedSize, PartitionKind::kMod, PartitionKind::kHash}) {
    for (const int n : {1, 3}) {
      const bool dynamic = kind == PartitionKind::kHash;
      ShardSet shards(dynamic ? DynamicExactModel() : ExactModel(), kind, n);
      std::vector<std::thread> threads;
      for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&, t] {
          std::mt19937_64 random(100 + t);
          std::vector<std::pair<int, int>> mine;  // batch, shard
          for (int i = t; i < static_cast<int>(batches.size()); i += 4) {
            for (int s = 0; s < n; ++s) mine.emplace_back(i, s);
          }
          std::shuffle(mine.begin(), mine.end(), random);
          for (const auto& [i, s] : mine) {
            EXPECT_FALSE(shards.Push(s, batches[i])->repeat);
          }
        });
      }
      for (std::thread& thread : threads) thread.join();
      EXPECT_EQ(shards.Digest(), expected) << n << " shards";
    }
  }
}

TEST(ParameterShard, PushesSentOneToFiveTimesShuffledChangeNothing) {
  const auto batches = ExactBatches(60, 2);
  ShardSet shards(ExactModel(), PartitionKind::kFixedSize, 2);
  std::mt19937_64 random(5);
  std::vector<std::pair<int, int>> sends;  // batch, shard
  std::vector<uint64_t> injected(2);
  for (int i = 0; i < static_cast<int>(batches.size()); ++i) {
    for (int s = 0; s < 2; ++s) {
      const int copies = 1 + random() % 5;
      injected[s] += copies - 1;
      for (int c = 0; c < copies; ++c) sends.emplace_back(i, s);
    }
  }
  std::shuffle(sends.begin(), sends.end(), random);
  std::vector<uint64_t> repeats(2);
  for (const auto& [i, s] : sends) {
    const auto reply = shards.Push(s, batches[i], /*lease=*/1 + random() % 3);
    ASSERT_TRUE(reply.ok()) << reply.status();
    repeats[s] += reply->repeat;
  }
  EXPECT_EQ(shards.Digest(), SerialDigest(batches));
  EXPECT_EQ(repeats, injected);
  for (int s = 0; s < 2; ++s) {
    const StatsReply stats = shards.Stats(s);
    EXPECT_EQ(stats.repeats_refused, injected[s]);
    EXPECT_EQ(stats.pushes_applied, batches.size());
    EXPECT_EQ(stats.version.count, batches.size());
    const MarkDelta delta = shards.shard(s).TakeMarks();
    EXPECT_EQ(delta.repeats_refused, injected[s]);
    EXPECT_EQ(std::count_if(delta.marks.begin(), delta.marks.end(),
                            [](const Mark& m) { return !m.repeat; }),
              batches.size());
  }
}

// Four threads send each batch at the same moment, and applying it takes long:
// most copies come while the first one is being applied and wait for it.
TEST(ParameterShard, RacingCopiesOfOneBatchAreAppliedOnce) {
  constexpr int kThreads = 4;
  constexpr uint32_t kBatches = 8;
  constexpr int kSize = 1 << 21;
  ModelSpec model = Model(OptimizerKind::kAdam, 0.5f);
  model.dense = {{"large", {kSize}, model.dense[0].optimizer, {}}};
  const auto gradient = [](uint32_t i) {
    BatchGradient gradient;
    gradient.batch = {0, 0, i};
    gradient.dense.assign(kSize, i % 2 == 0 ? 1 : -0.5f);
    return gradient;
  };
  ShardSet serial(model, PartitionKind::kFixedSize, 1);
  for (uint32_t i = 0; i < kBatches; ++i) {
    ASSERT_TRUE(serial.Push(0, gradient(i)).ok());
  }

  ShardSet shards(model, PartitionKind::kFixedSize, 1);
  std::atomic<int> applied{0};
  std::barrier start(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (uint32_t i = 0; i < kBatches; ++i) {
        const BatchGradient copy = gradient(i);
        // One of the copies has hardly any time to wait.
        const absl::Duration timeout =
            t == 0 ? absl::Nanoseconds(1) : absl::Seconds(30);
        start.arrive_and_wait();
        const auto reply = shards.Push(0, copy, /*lease=*/t, timeout);
        if (reply.ok()) {
          EXPECT_EQ(reply->version.count, i + 1);
          applied += !reply->repeat;
        } else {
          EXPECT_EQ(reply.status().code(), absl::StatusCode::kDeadlineExceeded);
          EXPECT_EQ(t, 0) << reply.status();
        }
        start.arrive_and_wait();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(applied, kBatches);
  EXPECT_EQ(shards.Digest(), serial.Digest());
  EXPECT_EQ(shards.Stats(0).repeats_refused, (kThreads - 1) * kBatches);
}

TEST(ParameterShard, TwoConcurrentPushesOfOneToARowMakeTwo) {
  for (uint32_t round = 0; round < 50; ++round) {
    ShardSet shards(ExactModel(), PartitionKind::kFixedSize, 1);
    std::vector<std::thread> threads;
    for (uint32_t t = 0; t < 2; ++t) {
      threads.emplace_back([&, t] {
        BatchGradient gradient;
        gradient.batch = {0, 0, t};
        gradient.rows[7] = {-4, -4, -4};  // +1 at rate 1/4
        EXPECT_FALSE(shards.Push(0, gradient)->repeat);
      });
    }
    for (std::thread& thread : threads) thread.join();
    const FeatureId id = 7;
    std::vector<float> row(kRowDim);
    PullRequest pull;
    pull.identity = shards.Identity(0);
    pull.tables = {{0, absl::MakeConstSpan(&id, 1), absl::MakeSpan(row)}};
    ASSERT_TRUE(CallAndWait<PullReply>([&](Done<PullReply> done) {
                  shards.shard(0).Pull(pull, absl::Seconds(30),
                                       std::move(done));
                }).ok());
    ASSERT_THAT(row, testing::Each(2));
  }
}

TEST(ParameterShard, TheDigestDoesNotDependOnShardsOrOrder) {
  const std::vector<FeatureId> ids = {0, 199, 67, 66, 100, 5, 133, 134};
  ShardSet one(RandomModel(), PartitionKind::kFixedSize, 1);
  one.Touch(ids);
  const uint64_t expected = one.Digest();
  const std::vector<FeatureId> reversed(ids.rbegin(), ids.rend());
  for (const PartitionKind kind :
       {PartitionKind::kFixedSize, PartitionKind::kMod}) {
    for (const int n : {1, 2, 3}) {
      ShardSet shards(RandomModel(), kind, n);
      EXPECT_NE(shards.Digest(), expected) << "rows are missing";
      shards.Touch(reversed);
      EXPECT_EQ(shards.Digest(), expected) << n << " shards";
    }
  }
}

TEST(ParameterShard, TheDigestSeesOneBitOfADenseBlock) {
  ShardSet shards(RandomModel(), PartitionKind::kFixedSize, 2);
  const uint64_t before = shards.Digest();
  BatchGradient gradient;
  gradient.dense.assign(kDense, 0);
  ASSERT_TRUE(shards.Push(0, gradient).ok());
  ASSERT_TRUE(shards.Push(1, gradient).ok());
  EXPECT_EQ(shards.Digest(), before) << "a zero gradient moves nothing";
  gradient.batch.index = 1;
  gradient.dense.back() = 0x1p-20f;
  ASSERT_TRUE(shards.Push(0, gradient).ok());
  ASSERT_TRUE(shards.Push(1, gradient).ok());
  EXPECT_NE(shards.Digest(), before);
}

// t counts this shard's applied pushes, so the third push is Adam's third
// step, also of a row that it touches for the first time.
TEST(ParameterShard, AdamsStepIsTheCountOfAppliedPushes) {
  const float rate = 0.5f;
  ShardSet shards(Model(OptimizerKind::kAdam, rate), PartitionKind::kMod, 1);
  BatchGradient gradient;
  for (gradient.batch.index = 0; gradient.batch.index < 2;
       ++gradient.batch.index) {
    ASSERT_TRUE(shards.Push(0, gradient).ok());
    ASSERT_TRUE(shards.Push(0, gradient)->repeat);  // counts for nothing
  }
  gradient.rows[7] = {1, 1, 1};
  ASSERT_EQ(shards.Push(0, gradient)->version.count, 3);
  const FeatureId id = 7;
  std::vector<float> row(kRowDim);
  PullRequest pull;
  pull.identity = shards.Identity(0);
  pull.tables = {{0, absl::MakeConstSpan(&id, 1), absl::MakeSpan(row)}};
  ASSERT_TRUE(CallAndWait<PullReply>([&](Done<PullReply> done) {
                shards.shard(0).Pull(pull, absl::Seconds(30), std::move(done));
              }).ok());
  // m = .1, v = .001: w = -rate sqrt(1-.999^3)/(1-.9^3) * .1 / sqrt(.001).
  EXPECT_NEAR(row[0], -rate * 0.05474461 / 0.271 * 0.1 / 0.03162278, 1e-5);
}

TEST(ParameterShard, StatsAddUpBytesAndRows) {
  ShardSet shards(Model(OptimizerKind::kAdam, 0.1f), PartitionKind::kMod, 2);
  shards.Touch({0, 1, 2});
  uint64_t bytes = 0;
  uint64_t rows = 0;
  for (int s = 0; s < 2; ++s) {
    const StatsReply stats = shards.Stats(s);
    bytes += stats.bytes;
    rows += stats.rows;
    uint64_t sum = 0;
    for (const VariableStats& v : stats.variables) sum += v.bytes;
    EXPECT_EQ(sum, stats.bytes);
  }
  EXPECT_EQ(rows, 3);
  EXPECT_EQ(bytes, 4 * 3 * (3 * kRowDim + kDense));  // w, m, v
}

TEST(ParameterShard, ServesOnlyUntilItsLeaseRunsOut) {
  Simulator simulator;
  SimulatedExecutor executor(&simulator);
  ParameterShardOptions options;
  options.job = "test";
  options.model = ExactModel();
  options.map.tables = {{PartitionKind::kMod, kFeatures, 1}};
  options.life = {1, 1};
  const auto shard = *ParameterShard::Create(options, &executor);
  const auto serve = [&] {
    absl::Status status = absl::UnknownError("no answer");
    PullRequest pull;
    pull.identity = {"test", {1, 2}, {1, 1}, 1};
    shard->Pull(pull, absl::Seconds(1), [&](absl::StatusOr<PullReply> reply) {
      status = reply.status();
    });
    EXPECT_EQ(status.code(), absl::StatusCode::kUnknown) << "ran inline";
    simulator.RunFor(absl::ZeroDuration());
    return status;
  };
  EXPECT_EQ(serve().code(), absl::StatusCode::kUnavailable);
  shard->ServeUntil(simulator.Now() + absl::Seconds(5));
  EXPECT_TRUE(serve().ok());
  simulator.RunFor(absl::Seconds(4));
  EXPECT_TRUE(serve().ok());
  simulator.RunFor(absl::Seconds(1));
  EXPECT_EQ(serve().code(), absl::StatusCode::kUnavailable);
  shard->ServeUntil(absl::InfiniteFuture());
  EXPECT_TRUE(serve().ok());
}

TEST(ParameterShard, CreateRefusesAMapThatDoesNotFitTheModel) {
  Simulator simulator;
  SimulatedExecutor executor(&simulator);
  ParameterShardOptions good;
  good.job = "test";
  good.model = ExactModel();
  good.map.tables = {{PartitionKind::kMod, kFeatures, 1}};
  good.map.blocks = {{0, 0, 60, 0, 0}, {1, 0, 7, 0, 60}};
  good.life = {1, 1};
  ASSERT_TRUE(ParameterShard::Create(good, &executor).ok());

  std::vector<ParameterShardOptions> bad(8, good);
  bad[0].life = {};
  bad[1].shard = 1;
  bad[2].map.tables.clear();
  bad[3].map.tables[0].feature_size = 7;
  bad[4].map.tables[0].kind = PartitionKind::kHash;
  bad[5].map.blocks[1].variable = 2;
  bad[6].map.blocks[0].end = 61;
  bad[7].model.tables[0].columns.clear();
  for (size_t i = 0; i < bad.size(); ++i) {
    const auto shard = ParameterShard::Create(bad[i], &executor);
    EXPECT_EQ(shard.status().code(), absl::StatusCode::kInvalidArgument)
        << "case " << i << ": " << shard.status();
  }
  good.max_bytes = 67 * 4 - 1;
  const absl::Status large = ParameterShard::Create(good, &executor).status();
  EXPECT_EQ(large.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(large.message()),
              testing::HasSubstr("--max_ps_bytes"));
}

// Threads that create rows together can never hold more than the limit, and
// room that was reserved and not used is given back.
TEST(ParameterShard, TheMemoryLimitHoldsUnderConcurrentCreation) {
  constexpr uint64_t kRoom = 100;
  const uint64_t record = 32;  // 8 + 12 bytes, rounded up
  ShardSet shards(ExactModel(), PartitionKind::kMod, 1,
                  kDense * 4 + kRoom * record);
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (uint32_t i = 0; i < kFeatures; ++i) {
        BatchGradient gradient;
        gradient.batch = {0, t, i};
        gradient.rows[(i * 7 + t) % kFeatures] = {1, 1, 1};
        gradient.rows[(i * 7 + t + 50) % kFeatures] = {1, 1, 1};
        const auto reply = shards.Push(0, gradient);
        if (!reply.ok()) {
          // For good, or because of what another thread had reserved.
          EXPECT_TRUE(absl::IsOutOfRange(reply.status()) ||
                      absl::IsResourceExhausted(reply.status()))
              << reply.status();
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(shards.Stats(0).rows, kRoom);
  // Alone, one push a row: all the room that is left is found.
  for (uint32_t id = 0; id < kFeatures; ++id) {
    BatchGradient gradient;
    gradient.batch = {1, 0, id};
    gradient.rows[id] = {1, 1, 1};
    (void)shards.Push(0, gradient);
  }
  EXPECT_EQ(shards.Stats(0).rows, kRoom);
}

absl::StatusOr<PushReply> PushTables(ShardSet* shards, uint32_t index,
                                     std::vector<TablePush> tables) {
  PushRequest request;
  request.identity = shards->Identity(0);
  request.batches = {{.id = {0, 0, index}, .lease = 1}};
  request.tables = std::move(tables);
  return CallAndWait<PushReply>([&](Done<PushReply> done) {
    shards->shard(0).Push(request, absl::Seconds(30), std::move(done));
  });
}

// Two tables, of which the second has room for two rows. The first one's rows
// are an array, or dynamic.
ModelSpec FullSecondTableModel(bool first_is_dynamic) {
  ModelSpec model = ExactModel();
  model.dense.clear();
  TableSpec first = model.tables[0];
  TableSpec second = first;
  if (first_is_dynamic) first.feature_size = 0;
  second.name = "second";
  second.columns[0].variable = "w2";
  second.columns[1].variable = "v2";
  second.feature_size = 0;
  second.row_limit = 2;
  model.tables = {first, second};
  return model;
}

// The first table has room and the second is full: what was reserved for the
// first one's rows is given back, by pushes and by pulls.
TEST(ParameterShard, WhatARefusedRequestReservedIsGivenBack) {
  ShardSet shards(FullSecondTableModel(/*first_is_dynamic=*/false),
                  PartitionKind::kFixedSize, 1);
  const std::vector<FeatureId> ids = {1, 2, 3};
  std::vector<float> values(9, -4);
  const uint64_t before = shards.shard(0).Count().bytes_held;
  const auto g = absl::MakeConstSpan(values);
  EXPECT_EQ(PushTables(&shards, 0, {{0, ids, g}, {1, ids, g}}).status().code(),
            absl::StatusCode::kOutOfRange);
  EXPECT_EQ(shards.shard(0).Count().bytes_held, before);
  PullRequest pull;
  pull.identity = shards.Identity(0);
  std::vector<float> others(9);
  pull.tables = {{0, ids, absl::MakeSpan(values)},
                 {1, ids, absl::MakeSpan(others)}};
  const auto pulled = CallAndWait<PullReply>([&](Done<PullReply> done) {
    shards.shard(0).Pull(pull, absl::Seconds(30), std::move(done));
  });
  EXPECT_EQ(pulled.status().code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(shards.shard(0).Count().bytes_held, before);
}

// Neither table changes.
TEST(ParameterShard, APushWhoseSecondTableIsFullLeavesTheFirstUntouched) {
  ShardSet shards(FullSecondTableModel(/*first_is_dynamic=*/true),
                  PartitionKind::kFixedSize, 1);
  const std::vector<FeatureId> one = {1};
  const std::vector<FeatureId> three = {1, 2, 3};
  const std::vector<float> gradient(9, -4);
  const auto g = absl::MakeConstSpan(gradient);
  ASSERT_TRUE(
      PushTables(&shards, 0, {{0, one, g.first(3)}, {1, one, g.first(3)}})
          .ok());
  const StatsReply before = shards.Stats(0);
  const auto refused = PushTables(&shards, 1, {{0, three, g}, {1, three, g}});
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kOutOfRange)
      << "no waiting makes room";
  EXPECT_THAT(std::string(refused.status().message()),
              testing::AllOf(testing::HasSubstr("table 'second'"),
                             testing::HasSubstr("--table_row_limit")));
  const StatsReply after = shards.Stats(0);
  EXPECT_EQ(after.digest, before.digest);
  EXPECT_EQ(after.rows, before.rows);
  EXPECT_EQ(after.version, before.version);
  // Not marked: the same batch is taken once it fits.
  const auto smaller = PushTables(&shards, 1, {{0, three, g}});
  ASSERT_TRUE(smaller.ok()) << smaller.status();
  EXPECT_FALSE(smaller->repeat);
  EXPECT_EQ(shards.Stats(0).rows, before.rows + 2);
}

TEST(ParameterShard, CanariesTellHowOftenEachPushCounted) {
  ModelSpec model = ExactModel();
  AddCanary(&model);
  ShardSet shards(model, PartitionKind::kFixedSize, 1);
  ShardSet plain(ExactModel(), PartitionKind::kFixedSize, 1);
  EXPECT_EQ(shards.Stats(0).canary, CanaryStats{});
  const auto push = [&](uint32_t index, const BatchId& canary,
                        StartNumber start = 1) {
    const FeatureId row = CanaryRow(canary).value();
    const auto gradients = CanaryGradients(start);
    EXPECT_TRUE(PushTables(&shards, index,
                           {{1, absl::MakeConstSpan(&row, 1),
                             absl::MakeConstSpan(gradients)}})
                    .ok());
  };
  for (uint32_t i = 0; i < 3; ++i) push(i, {0, 0, i});
  push(1, {0, 0, 1});  // a repeat
  EXPECT_EQ(shards.Stats(0).canary, (CanaryStats{3, 0, 1, 1}));
  push(3, {0, 0, 1});  // what no mark sees: batch 1 again, as batch 3
  EXPECT_EQ(shards.Stats(0).canary->not_one, 1u);
  // What no mark and no gradient shows: it came from a job before this one.
  push(4, {0, 0, 4}, 2);
  const StatsReply stats = shards.Stats(0);
  EXPECT_EQ(stats.canary, (CanaryStats{4, 1, 1, 2, 2}));
  // None of it is the model's.
  EXPECT_EQ(stats.rows, 0);
  EXPECT_EQ(stats.digest, plain.Stats(0).digest);
  EXPECT_EQ(stats.bytes, plain.Stats(0).bytes);
  EXPECT_EQ(stats.variables.size(), plain.Stats(0).variables.size());
}

TEST(Canary, EveryBatchHasARowOfItsOwn) {
  EXPECT_NE(*CanaryRow({0, 0, 1}), *CanaryRow({0, 1, 0}));
  EXPECT_NE(*CanaryRow({0, 1, 0}), *CanaryRow({1, 0, 0}));
  EXPECT_EQ(*CanaryRow({0xffff, 0xffffff, 0xffffff}), ~FeatureId{0});
  for (const BatchId& batch : {BatchId{1 << 16, 0, 0}, BatchId{0, 1 << 24, 0},
                               BatchId{0, 0, 1 << 24}}) {
    EXPECT_EQ(CanaryRow(batch).status().code(),
              absl::StatusCode::kInvalidArgument);
  }
}

}  // namespace
}  // namespace shoal
