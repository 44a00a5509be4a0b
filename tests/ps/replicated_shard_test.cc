// A replicated shard is a shard as any other: together with the shards of the
// tables' rows it is the model that one shard is.

#include <cstdint>
#include <random>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "ps/shard/parameter_shard.h"
#include "tests/harness/fake_file_system.h"
#include "tests/ps/shard_set.h"

namespace shoal {
namespace {

constexpr uint64_t kFeatures = 50;
constexpr int kDense = 7 * 5 + 5;
constexpr char kDirectory[] = "/models/a/ckpt-00000000010";

ModelSpec Model(PartitionKind partition) {
  OptimizerSpec adam;
  adam.kind = OptimizerKind::kAdam;
  adam.learning_rate = 0.25f;
  const InitializerSpec uniform = {InitializerKind::kUniform, 1};
  ModelSpec model;
  model.model = "test";
  model.seed = 3;
  TableSpec table;
  table.name = "rows";
  table.feature_size = partition == PartitionKind::kHash ? 0 : kFeatures;
  table.columns = {{"v", 2, adam, uniform}};
  model.tables = {table};
  model.dense = {{"weights", {7, 5}, adam, uniform},
                 {"biases", {5}, adam, uniform}};
  return model;
}

// Pushes batches [begin, end) to every shard; the same numbers each time.
void Train(uint32_t begin, uint32_t end, ShardSet* shards) {
  for (uint32_t index = begin; index < end; ++index) {
    std::mt19937_64 random(index);
    const auto number = [&random] {
      return static_cast<float>(static_cast<int>(random() % 129) - 64) / 64.0f;
    };
    BatchGradient batch;
    batch.batch = {0, 0, index};
    for (int i = 0; i < 8; ++i) {
      batch.rows[random() % kFeatures] = {number(), number()};
    }
    for (int i = 0; i < kDense; ++i) batch.dense.push_back(number());
    for (int s = 0; s < shards->num_shards(); ++s) {
      const auto reply = shards->Push(s, batch);
      ASSERT_TRUE(reply.ok()) << reply.status();
    }
  }
}

class ReplicatedShard : public testing::TestWithParam<PartitionKind> {};

TEST_P(ReplicatedShard, HoldsTheDenseVariablesAndTheOthersTheRows) {
  const ModelSpec model = Model(GetParam());
  ShardSet one(model, GetParam(), 1);
  Train(0, 10, &one);
  ShardSet hybrid(model, GetParam(), 3, /*max_bytes=*/0, Replicate::kDense);
  Train(0, 10, &hybrid);
  EXPECT_EQ(hybrid.Digest(), one.Digest());
  EXPECT_EQ(hybrid.Stats(0).rows + hybrid.Stats(1).rows, one.Stats(0).rows);
  EXPECT_EQ(hybrid.Stats(2).rows, 0u);
  // Weights and Adam's two slots.
  EXPECT_EQ(hybrid.Stats(2).bytes, 3u * sizeof(float) * kDense);
  ShardSet ring(model, GetParam(), 1, /*max_bytes=*/0, Replicate::kAll);
  Train(0, 10, &ring);
  EXPECT_EQ(ring.Digest(), one.Digest());
  EXPECT_EQ(ring.Stats(0).rows, one.Stats(0).rows);
}

TEST_P(ReplicatedShard, IsSavedAndLoadedOverAnyMap) {
  const ModelSpec model = Model(GetParam());
  struct Way {
    int shards;
    Replicate replicate;
  };
  const Way ways[] = {{2, Replicate::kNothing},
                      {3, Replicate::kDense},
                      {1, Replicate::kAll}};
  for (const Way& from : ways) {
    FakeFileSystem files;
    ShardSet before(model, GetParam(), from.shards, /*max_bytes=*/0,
                    from.replicate);
    Train(0, 10, &before);
    const uint64_t digest = before.Digest();
    const Manifest manifest = before.Save(files, kDirectory);
    Train(10, 20, &before);
    LoadShardOptions load;
    load.files = &files;
    load.directory = kDirectory;
    load.manifest = &manifest;
    for (const Way& to : ways) {
      SCOPED_TRACE(absl::StrCat(from.shards, " to ", to.shards));
      ShardSet after(model, GetParam(), to.shards, load, to.replicate);
      EXPECT_EQ(after.Digest(), digest);
      // The slots are the same too, or this would differ.
      Train(10, 20, &after);
      EXPECT_EQ(after.Digest(), before.Digest());
    }
  }
}

// As --mode=hybrid: the rows of each batch are a push, and the dense gradients
// of two batches are one.
void TrainSteps(uint32_t begin, uint32_t end, ShardSet* shards) {
  const int replicated = shards->num_shards() - 1;
  for (uint32_t index = begin; index < end; index += 2) {
    BatchGradient sum;
    sum.batch = {0, 0, index};
    sum.more = {{.id = {0, 0, index + 1}, .lease = 1}};
    sum.dense.assign(kDense, 1.0f + static_cast<float>(index));
    for (const uint32_t i : {index, index + 1}) {
      BatchGradient rows;
      rows.batch = {0, 0, i};
      rows.rows[i % kFeatures] = {1.0f, 0.5f};
      rows.rows[(7 * i + 1) % kFeatures] = {-0.25f, 3.0f};
      for (int s = 0; s < replicated; ++s) {
        ASSERT_TRUE(shards->Push(s, rows).ok());
      }
    }
    ASSERT_TRUE(shards->Push(replicated, sum).ok());
  }
}

// Adam's t is the number of pushes, which differs between the two kinds.
TEST_P(ReplicatedShard, KeepsItsCountWithAnotherNumberOfServers) {
  const ModelSpec model = Model(GetParam());
  for (const int from : {2, 3, 4}) {
    FakeFileSystem files;
    ShardSet before(model, GetParam(), from, /*max_bytes=*/0,
                    Replicate::kDense);
    TrainSteps(0, 10, &before);
    const Manifest manifest = before.Save(files, kDirectory);
    TrainSteps(10, 20, &before);
    LoadShardOptions load;
    load.files = &files;
    load.directory = kDirectory;
    load.manifest = &manifest;
    for (const int to : {2, 3, 4, 6}) {
      SCOPED_TRACE(absl::StrCat(from, " to ", to));
      ShardSet after(model, GetParam(), to, load, Replicate::kDense);
      TrainSteps(10, 20, &after);
      EXPECT_EQ(after.Digest(), before.Digest());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, ReplicatedShard,
                         testing::Values(PartitionKind::kFixedSize,
                                         PartitionKind::kMod,
                                         PartitionKind::kHash),
                         [](const auto& info) {
                           const PartitionKind kind = info.param;
                           return kind == PartitionKind::kFixedSize
                                      ? "fixed_size"
                                  : kind == PartitionKind::kMod ? "mod"
                                                                : "hash";
                         });

}  // namespace
}  // namespace shoal
