// A shard that is saved and loaded is the shard that it was, whatever the
// optimizer, the kind of table and the numbers of servers.

#include <atomic>
#include <cstdint>
#include <random>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/path.h"
#include "checkpoint/checkpoint_directory.h"
#include "core/canary.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ps/shard/parameter_shard.h"
#include "ps/shard/tensor_names.h"
#include "tests/conformance/completion.h"
#include "tests/harness/fake_file_system.h"
#include "tests/ps/shard_set.h"

namespace shoal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr uint64_t kFeatures = 120;
constexpr int kDim = 3;
constexpr char kDirectory[] = "/models/a/ckpt-00000000030";

OptimizerSpec Optimizer(OptimizerKind kind) {
  OptimizerSpec spec;
  spec.kind = kind;
  spec.learning_rate = 0.25f;
  return spec;
}

OptimizerKind DenseKind(OptimizerKind kind) {
  return kind == OptimizerKind::kRowwiseAdagrad ? OptimizerKind::kAdagrad
                                                : kind;
}

// Two columns under different optimizers, a dense variable that is cut over the
// servers and two that are placed whole.
ModelSpec Model(OptimizerKind kind, PartitionKind partition) {
  const InitializerSpec uniform = {InitializerKind::kUniform, 1};
  const OptimizerSpec optimizer = Optimizer(kind);
  ModelSpec model;
  model.model = "test";
  model.seed = 3;
  TableSpec table;
  table.name = "rows";
  table.feature_size = partition == PartitionKind::kHash ? 0 : kFeatures;
  table.columns = {{"w", 1, Optimizer(OptimizerKind::kFtrl), uniform},
                   {"v", kDim, optimizer, uniform}};
  model.tables = {table};
  const OptimizerSpec dense = Optimizer(DenseKind(kind));
  model.dense = {{"deep/weights", {7, 5}, dense, uniform},
                 {"deep/biases", {5}, dense, uniform},
                 {"b", {}, dense, uniform}};
  return model;
}

// Ids of an array are small; of a dynamic table anything.
std::vector<FeatureId> Ids(PartitionKind partition) {
  std::vector<FeatureId> ids;
  for (uint64_t i = 0; i < kFeatures; i += 3) {
    ids.push_back(partition == PartitionKind::kHash ? i * 0x9e3779b97f4a7c15u
                                                    : i);
  }
  return ids;
}

class Trainer {
 public:
  explicit Trainer(PartitionKind partition) : ids_(Ids(partition)) {}

  // Pushes batches [begin, end) to every shard; the same numbers each time.
  void Train(uint32_t begin, uint32_t end, ShardSet* shards) {
    for (uint32_t index = begin; index < end; ++index) {
      std::mt19937_64 random(index);
      BatchGradient batch;
      batch.batch = {0, 0, index};
      for (int i = 0; i < 6; ++i) {
        std::vector<float>& row = batch.rows[ids_[random() % ids_.size()]];
        row.clear();
        for (int k = 0; k < kDim + 1; ++k) row.push_back(Number(&random));
      }
      for (int i = 0; i < 41; ++i) batch.dense.push_back(Number(&random));
      for (int s = 0; s < shards->num_shards(); ++s) {
        const auto reply = shards->Push(s, batch);
        ASSERT_TRUE(reply.ok()) << reply.status();
        ASSERT_FALSE(reply->repeat);
      }
    }
  }

 private:
  static float Number(std::mt19937_64* random) {
    return static_cast<float>(static_cast<int>((*random)() % 2001) - 1000) /
           1e3f;
  }

  const std::vector<FeatureId> ids_;
};

LoadShardOptions From(const FileSystem& files, const Manifest& manifest,
                      const std::string& directory = kDirectory) {
  LoadShardOptions load;
  load.files = &files;
  load.directory = directory;
  load.manifest = &manifest;
  return load;
}

uint64_t Rows(ShardSet* shards) {
  uint64_t rows = 0;
  for (int s = 0; s < shards->num_shards(); ++s) rows += shards->Stats(s).rows;
  return rows;
}

class EveryShard
    : public testing::TestWithParam<std::tuple<OptimizerKind, PartitionKind>> {
};

TEST_P(EveryShard, GoesOnAsIfItHadNotBeenSavedOverAnyNumberOfServers) {
  const auto [kind, partition] = GetParam();
  const ModelSpec model = Model(kind, partition);
  for (int n = 1; n <= 3; ++n) {
    FakeFileSystem files;
    Trainer trainer(partition);
    ShardSet before(model, partition, n);
    trainer.Train(0, 15, &before);
    const Manifest manifest = before.Save(files, kDirectory);
    const uint64_t digest = before.Digest();
    const uint64_t rows = Rows(&before);
    trainer.Train(15, 30, &before);
    for (int m = 1; m <= 3; ++m) {
      SCOPED_TRACE(absl::StrCat(n, " to ", m));
      ShardSet after(model, partition, m, From(files, manifest));
      EXPECT_EQ(after.Digest(), digest);
      EXPECT_EQ(Rows(&after), rows);
      for (int s = 0; s < m; ++s) {
        EXPECT_THAT(after.shard(s).MarkRuns(),
                    ElementsAre(MarkRun{0, 0, 0, 15, Verdict::kApplied}));
        EXPECT_EQ(after.Stats(s).version.count, 15u);
        EXPECT_EQ(after.Stats(s).pushes_applied, 15u);
        EXPECT_THAT(after.shard(s).TakeMarks().marks, IsEmpty());
      }
      BatchGradient again;
      again.batch = {0, 0, 14};
      EXPECT_TRUE(after.Push(0, again, /*lease=*/9)->repeat);
      // Slots and counters are the same too, or this would differ.
      trainer.Train(15, 30, &after);
      EXPECT_EQ(after.Digest(), before.Digest());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, EveryShard,
    testing::Combine(
        testing::Values(OptimizerKind::kSgd, OptimizerKind::kAdagrad,
                        OptimizerKind::kRowwiseAdagrad, OptimizerKind::kAdam,
                        OptimizerKind::kFtrl),
        testing::Values(PartitionKind::kFixedSize, PartitionKind::kMod,
                        PartitionKind::kHash)),
    [](const auto& info) {
      const PartitionKind kind = std::get<1>(info.param);
      return absl::StrCat(OptimizerName(std::get<0>(info.param)),
                          kind == PartitionKind::kFixedSize ? "_fixed_size"
                          : kind == PartitionKind::kMod     ? "_mod"
                                                            : "_hash");
    });

class ShardCheckpoint : public testing::Test {
 protected:
  // A checkpoint of 15 batches over n servers.
  Manifest Saved(int n, PartitionKind partition = PartitionKind::kFixedSize) {
    ShardSet shards(Model(OptimizerKind::kAdam, partition), partition, n);
    Trainer(partition).Train(0, 15, &shards);
    return shards.Save(files_, kDirectory);
  }

  absl::StatusOr<std::unique_ptr<ParameterShard>> Load(
      const Manifest& manifest, const ModelSpec& model, int shard = 0,
      int num_shards = 1, bool weights_only = false) {
    ShardSet like(model, PartitionKind::kFixedSize, num_shards);
    ParameterShardOptions options;
    options.job = "test";
    options.model = model;
    options.map = like.map();
    options.shard = shard;
    options.life = Life{1, 1};
    LoadShardOptions load = From(files_, manifest);
    load.weights_only = weights_only;
    return ParameterShard::Load(options, &executor_, load);
  }

  FakeFileSystem files_;
  RealClock clock_;
  ThreadExecutor executor_{{.name = "test", .threads = 1}, &clock_};
};

TEST_F(ShardCheckpoint, OtherPartitionsOfTheSameArrayLoadToo) {
  const ModelSpec model = Model(OptimizerKind::kAdam, PartitionKind::kMod);
  const Manifest manifest = Saved(3);
  ShardSet same(model, PartitionKind::kFixedSize, 3, From(files_, manifest));
  ShardSet other(model, PartitionKind::kMod, 2, From(files_, manifest));
  EXPECT_EQ(other.Digest(), same.Digest());
  EXPECT_EQ(Rows(&other), Rows(&same));
}

TEST_F(ShardCheckpoint, AServerReadsNoFileThatItDoesNotNeed) {
  const Manifest manifest = Saved(3);
  const ModelSpec model =
      Model(OptimizerKind::kAdam, PartitionKind::kFixedSize);
  for (int shard = 0; shard < 3; ++shard) {
    if (shard == 1) continue;
    ASSERT_TRUE(
        files_.Remove(JoinPath(kDirectory, ShardFileName(shard, 3))).ok());
  }
  EXPECT_TRUE(Load(manifest, model, 1, 3).ok());
  const auto lost = Load(manifest, model, 0, 3);
  EXPECT_EQ(lost.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(lost.status().message()),
              HasSubstr("shard-00000-of-00003.safetensors"));
}

TEST_F(ShardCheckpoint, TablesLargerThanABlockAreReadByRanges) {
  // 600,000 rows: the ids and the weights take several blocks.
  const InitializerSpec uniform = {InitializerKind::kUniform, 1};
  ModelSpec model;
  model.model = "test";
  TableSpec table;
  table.name = "rows";
  table.feature_size = 600'000;
  table.columns = {{"w", 1, Optimizer(OptimizerKind::kSgd), uniform}};
  model.tables = {table};
  ShardSet before(model, PartitionKind::kFixedSize, 2);
  std::vector<FeatureId> ids[2];
  for (FeatureId id = 0; id < 600'000; ++id) ids[id >= 300'000].push_back(id);
  for (int s = 0; s < 2; ++s) {
    std::vector<float> values(ids[s].size());
    PullRequest pull;
    pull.identity = before.Identity(s);
    pull.tables = {{0, ids[s], absl::MakeSpan(values)}};
    const auto pulled = CallAndWait<PullReply>([&](Done<PullReply> done) {
      before.shard(s).Pull(pull, absl::Seconds(30), std::move(done));
    });
    ASSERT_TRUE(pulled.ok()) << pulled.status();
  }
  const Manifest manifest = before.Save(files_, kDirectory);
  EXPECT_EQ(manifest.shards[0].rows, 300'000u);
  EXPECT_EQ(manifest.shards[0].lookups, 300'000u);
  ASSERT_EQ(manifest.shards[0].variables.size(), 1u);
  EXPECT_EQ(manifest.shards[0].variables[0].lookups, 300'000u);
  EXPECT_EQ(manifest.shards[0].variables[0].bytes, 1'200'000u);
  ShardSet after(model, PartitionKind::kFixedSize, 3, From(files_, manifest));
  EXPECT_EQ(after.Digest(), before.Digest());
  EXPECT_EQ(after.Stats(1).rows, 200'000u);
}

TEST_F(ShardCheckpoint, TheCanaryAndTheSharedRowComeBack) {
  const InitializerSpec uniform = {InitializerKind::kUniform, 1};
  ModelSpec model;
  model.model = "test";
  TableSpec table;
  table.name = "rows";
  table.row_limit = 2;
  table.when_full = TableFull::kShare;
  table.columns = {{"v", 2, Optimizer(OptimizerKind::kAdam), uniform}};
  model.tables = {table};
  AddCanary(&model);
  ShardSet before(model, PartitionKind::kFixedSize, 1);
  StartNumber start = 1;
  const auto push = [&start](ShardSet* shards, uint32_t index) {
    const std::vector<FeatureId> ids = {index, index + 1, index + 2};
    const std::vector<float> gradients(6, 0.5f);
    const FeatureId canary = *CanaryRow({0, 0, index});
    const auto canary_gradients = CanaryGradients(start);
    PushRequest request;
    request.identity = shards->Identity(0);
    request.batches = {{.id = {0, 0, index}}};
    request.tables = {{0, ids, gradients},
                      {1, absl::MakeConstSpan(&canary, 1),
                       absl::MakeConstSpan(canary_gradients)}};
    const auto reply = CallAndWait<PushReply>([&](Done<PushReply> done) {
      shards->shard(0).Push(request, absl::Seconds(30), std::move(done));
    });
    ASSERT_TRUE(reply.ok()) << reply.status();
  };
  start = 9;  // as if an earlier start had trained the first batch
  push(&before, 0);
  start = 1;
  push(&before, 1);
  EXPECT_EQ(before.Stats(0).canary, (CanaryStats{2, 0, 1, 1, 1}));
  const Manifest manifest = before.Save(files_, kDirectory);
  ShardSet after(model, PartitionKind::kFixedSize, 1, From(files_, manifest));
  EXPECT_EQ(after.Digest(), before.Digest());
  EXPECT_EQ(Rows(&after), 3u);
  const CanaryStats two_ones = {2, 0, 1, 1};
  EXPECT_EQ(after.Stats(0).canary, two_ones);
  push(&before, 2);
  push(&after, 2);
  EXPECT_EQ(after.Digest(), before.Digest());
  EXPECT_EQ(after.Stats(0).canary->rows, 3u);
  EXPECT_EQ(after.Stats(0).canary->foreign, 0u);
  start = 9;
  push(&after, 3);
  EXPECT_EQ(after.Stats(0).canary->foreign, 1u);

  // Two servers have the canary each; the shared row of the first is kept.
  ShardSet wider(model, PartitionKind::kFixedSize, 2, From(files_, manifest));
  EXPECT_EQ(wider.Stats(0).canary, two_ones);
  EXPECT_EQ(wider.Stats(1).canary, two_ones);
}

TEST_F(ShardCheckpoint, RowsBeyondTheLimitOfATableAreRefused) {
  const Manifest manifest = Saved(2, PartitionKind::kHash);
  ModelSpec model = Model(OptimizerKind::kAdam, PartitionKind::kHash);
  for (const TableFull when_full : {TableFull::kRefuse, TableFull::kShare}) {
    model.tables[0].row_limit = 5;
    model.tables[0].when_full = when_full;
    const auto loaded = Load(manifest, model);
    EXPECT_EQ(loaded.status().code(), absl::StatusCode::kResourceExhausted);
    EXPECT_THAT(std::string(loaded.status().message()),
                HasSubstr("--table_row_limit"));
  }
}

TEST_F(ShardCheckpoint, AnotherModelIsRefusedByItsFirstDifference) {
  const Manifest manifest = Saved(2);
  const ModelSpec model =
      Model(OptimizerKind::kAdam, PartitionKind::kFixedSize);
  struct Case {
    std::string expected;
    void (*change)(ModelSpec*);
  };
  const Case cases[] = {
      {"the model is 'test' in the checkpoint and 'lr' in this job",
       [](ModelSpec* m) { m->model = "lr"; }},
      {"the dim of 'v' is 3 in the checkpoint and 4 in this job "
       "(--embedding_size)",
       [](ModelSpec* m) { m->tables[0].columns[1].dim = 4; }},
      {"the feature_size of table 'rows' is 120 in the checkpoint and 121",
       [](ModelSpec* m) { m->tables[0].feature_size = 121; }},
      {"the optimizer of 'v' is adam in the checkpoint and sgd",
       [](ModelSpec* m) {
         m->tables[0].columns[1].optimizer.kind = OptimizerKind::kSgd;
       }},
      {"the shape of 'deep/weights' is [7, 5] in the checkpoint and [7, 6]",
       [](ModelSpec* m) {
         m->dense[0].shape = {7, 6};
       }},
      {"variable 'more' is absent in the checkpoint",
       [](ModelSpec* m) {
         m->dense.push_back({"more", {2}});
       }},
      {"variable 'b' is present in the checkpoint and absent in",
       [](ModelSpec* m) { m->dense.pop_back(); }},
      {"without --canary", [](ModelSpec* m) { AddCanary(m); }},
  };
  for (const Case& c : cases) {
    ModelSpec other = model;
    c.change(&other);
    const auto loaded = Load(manifest, other);
    EXPECT_EQ(loaded.status().code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(loaded.status().message()), HasSubstr(c.expected));
  }
}

TEST_F(ShardCheckpoint, WeightsAloneLoadUnderAnyOptimizer) {
  const Manifest manifest = Saved(2);
  ModelSpec model = Model(OptimizerKind::kSgd, PartitionKind::kFixedSize);
  model.seed = 99;  // the checkpoint's counts
  LoadShardOptions load = From(files_, manifest);
  ShardSet trained(Model(OptimizerKind::kAdam, PartitionKind::kFixedSize),
                   PartitionKind::kFixedSize, 1, load);
  load.weights_only = true;
  ShardSet served(model, PartitionKind::kFixedSize, 1, load);
  const uint64_t digest = trained.Digest();
  EXPECT_EQ(served.Digest(), digest);
  EXPECT_THAT(served.shard(0).MarkRuns(), IsEmpty());
  // A row that no push trained starts from the checkpoint's seed.
  EXPECT_EQ(served.Rows({1}), trained.Rows({1}));
  // Or it is zero, if the load says so.
  load.unseen = Unseen::kZero;
  ShardSet zero(model, PartitionKind::kFixedSize, 1, load);
  EXPECT_EQ(zero.Digest(), digest);
  EXPECT_EQ(zero.Rows({1}), std::vector<float>(kDim + 1));
  EXPECT_NE(trained.Rows({1}), std::vector<float>(kDim + 1));
}

TEST_F(ShardCheckpoint, DamageNamesFileTensorAndBlock) {
  const Manifest manifest = Saved(1);
  const std::string path = JoinPath(kDirectory, ShardFileName(0, 1));
  std::string bytes = *files_.Contents(path);
  const WrittenFile& file = manifest.shards[0].file;
  for (const WrittenTensor& tensor : file.tensors) {
    if (tensor.info.name != "v@adam_m") continue;
    bytes[file.data_begin + tensor.info.begin + 5] ^= 1;
  }
  files_.AddFile(path, bytes);
  const auto loaded =
      Load(manifest, Model(OptimizerKind::kAdam, PartitionKind::kFixedSize));
  EXPECT_EQ(loaded.status().code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(
      std::string(loaded.status().message()),
      AllOf(HasSubstr(path), HasSubstr("'v@adam_m'"), HasSubstr("block 0")));
}

TEST_F(ShardCheckpoint, EveryFlippedByteOfAShardIsAnError) {
  const Manifest manifest = Saved(1);
  const std::string path = JoinPath(kDirectory, ShardFileName(0, 1));
  const std::string good = *files_.Contents(path);
  const ModelSpec model =
      Model(OptimizerKind::kAdam, PartitionKind::kFixedSize);
  ShardSet like(model, PartitionKind::kFixedSize, 1);
  ParameterShardOptions options;
  options.job = "test";
  options.model = model;
  options.map = like.map();
  options.life = Life{1, 1};
  for (size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ (1 << i % 8));
    files_.AddFile(path, bad);
    const auto loaded =
        ParameterShard::Load(options, &executor_, From(files_, manifest));
    ASSERT_EQ(loaded.status().code(), absl::StatusCode::kDataLoss)
        << "byte " << i << ": " << loaded.status();
    ASSERT_THAT(std::string(loaded.status().message()), HasSubstr(path));
  }
}

TEST_F(ShardCheckpoint, AFullDiskNamesTheFileAndLeavesTheOldCheckpoint) {
  const Manifest old = Saved(1);
  const std::string directory = "/models/a/ckpt-00000000031";
  const std::string temporary =
      JoinPath(directory, absl::StrCat(".", ShardFileName(0, 1), ".attempt-7"));
  files_.LimitWrites(temporary, 1000);
  ShardSet shards(Model(OptimizerKind::kAdam, PartitionKind::kFixedSize),
                  PartitionKind::kFixedSize, 1);
  SaveShardOptions save;
  save.files = &files_;
  save.directory = directory;
  save.attempt = 7;
  const auto saved = shards.shard(0).Save(save);
  EXPECT_EQ(saved.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(saved.status().message()), HasSubstr(temporary));
  EXPECT_THAT(*files_.ListDirectory(directory), IsEmpty());
  EXPECT_EQ(NewestCheckpoint(files_, "/models/a", true)->name,
            "ckpt-00000000030");
  // And the shard is not sealed.
  Trainer(PartitionKind::kFixedSize).Train(0, 1, &shards);
}

TEST_F(ShardCheckpoint, ASaveThatIsGivenUpLeavesNothing) {
  ShardSet shards(Model(OptimizerKind::kAdam, PartitionKind::kFixedSize),
                  PartitionKind::kFixedSize, 1);
  SaveShardOptions save;
  save.files = &files_;
  save.directory = kDirectory;
  save.cancelled = [] { return true; };
  EXPECT_EQ(shards.shard(0).Save(save).status().code(),
            absl::StatusCode::kCancelled);
  EXPECT_THAT(*files_.ListDirectory(kDirectory), IsEmpty());

  // Nor does one that comes too late.
  save.cancelled = nullptr;
  files_.AddFile(JoinPath(kDirectory, kManifestFile), "committed");
  EXPECT_EQ(shards.shard(0).Save(save).status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(files_.ListDirectory(kDirectory)->size(), 1u);
}

TEST_F(ShardCheckpoint, NothingChangesInASealedShard) {
  const PartitionKind partition = PartitionKind::kHash;
  ShardSet shards(Model(OptimizerKind::kAdam, partition), partition, 1);
  Trainer trainer(partition);
  trainer.Train(0, 3, &shards);
  const uint64_t digest = shards.Digest();
  ASSERT_TRUE(shards.shard(0).Seal(absl::Seconds(1)).ok());
  BatchGradient batch;
  batch.batch = {0, 0, 3};
  EXPECT_EQ(shards.Push(0, batch).status().code(),
            absl::StatusCode::kUnavailable);
  batch.batch = {0, 0, 2};
  EXPECT_TRUE(shards.Push(0, batch)->repeat);
  const std::vector<float> sealed = shards.Rows({123456});
  EXPECT_EQ(shards.Digest(), digest);
  // Saved while it is sealed, and still sealed then.
  shards.Save(files_, kDirectory);
  batch.batch = {0, 0, 3};
  EXPECT_EQ(shards.Push(0, batch).status().code(),
            absl::StatusCode::kUnavailable);
  shards.shard(0).Unseal();
  trainer.Train(3, 4, &shards);
  EXPECT_EQ(shards.Rows({123456}), sealed);
}

TEST_F(ShardCheckpoint, AWrittenShardMayChangeBeforeItIsSynced) {
  const PartitionKind partition = PartitionKind::kHash;
  const ModelSpec model = Model(OptimizerKind::kAdam, partition);
  ShardSet shards(model, partition, 1);
  Trainer trainer(partition);
  trainer.Train(0, 3, &shards);
  const uint64_t digest = shards.Digest();
  SaveShardOptions save;
  save.files = &files_;
  save.directory = kDirectory;
  const auto written = shards.shard(0).Write(save);
  ASSERT_TRUE(written.ok()) << written.status();
  trainer.Train(3, 6, &shards);
  EXPECT_NE(shards.Digest(), digest);
  const std::string path = JoinPath(kDirectory, ShardFileName(0, 1));
  EXPECT_FALSE(files_.OpenForRead(path).ok()) << "it is not synced yet";
  const auto entry = (*written)->Commit();
  ASSERT_TRUE(entry.ok()) << entry.status();
  EXPECT_EQ(entry->marks, 3u);
  Manifest manifest;
  manifest.step = 3;
  manifest.model = model;
  manifest.map = shards.map();
  manifest.shards = {*entry};
  ShardSet loaded(model, partition, 1, From(files_, manifest));
  EXPECT_EQ(loaded.Digest(), digest);
}

TEST(SaveGate, ClosesWhenNothingIsOnItsWayAndOpensWhenNobodyKeepsItClosed) {
  SaveGate gate;
  {
    const SaveGate::Passage passage(&gate);
    EXPECT_TRUE(passage.open());
    EXPECT_EQ(gate.Close(absl::Milliseconds(1)).code(),
              absl::StatusCode::kDeadlineExceeded);
    EXPECT_TRUE(SaveGate::Passage(&gate).open());
  }
  ASSERT_TRUE(gate.Close(absl::Seconds(10)).ok());
  ASSERT_TRUE(gate.Close(absl::Seconds(10)).ok());
  gate.Open();
  EXPECT_FALSE(SaveGate::Passage(&gate).open());
  gate.Open();
  EXPECT_TRUE(SaveGate::Passage(&gate).open());
}

TEST_F(ShardCheckpoint, PushesAndPullsMayRaceWithASave) {
  const PartitionKind partition = PartitionKind::kHash;
  const ModelSpec model = Model(OptimizerKind::kAdam, partition);
  ShardSet shards(model, partition, 1);
  Trainer(partition).Train(0, 20, &shards);
  std::atomic<bool> stop{false};
  std::atomic<uint32_t> pushed{0};
  std::thread pusher([&] {
    for (uint32_t index = 20; !stop.load(); ++index) {
      BatchGradient batch;
      batch.batch = {0, 0, index};
      batch.rows[index * 7919] = {1, 1, 1, 1};
      while (!stop.load()) {
        const auto reply = shards.Push(0, batch);
        if (reply.ok()) break;
        ASSERT_EQ(reply.status().code(), absl::StatusCode::kUnavailable);
      }
      ++pushed;
    }
  });
  std::thread puller([&] {
    for (FeatureId id = 0; !stop.load(); ++id) shards.Rows({id * 31});
  });
  for (int i = 0; i < 20; ++i) {
    const std::string directory = absl::StrCat("/m/", CheckpointName(i));
    const uint32_t before = pushed.load();
    const Manifest manifest = shards.Save(files_, directory);
    // Rows, slots and marks are of one moment: replayed, the digest agrees.
    ShardSet loaded(model, partition, 1, From(files_, manifest, directory));
    const StatsReply stats = loaded.Stats(0);
    EXPECT_EQ(stats.version.count, manifest.shards[0].marks);
    EXPECT_GE(stats.version.count, 20 + before);
    EXPECT_EQ(stats.rows, manifest.shards[0].rows);
  }
  stop.store(true);
  pusher.join();
  puller.join();
}

}  // namespace
}  // namespace shoal
