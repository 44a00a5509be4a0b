#include "tests/ps/shard_set.h"

#include <utility>

#include "checkpoint/checkpoint_directory.h"
#include "gtest/gtest.h"
#include "partitioner/build_shard_map.h"
#include "partitioner/table_partition.h"
#include "tests/conformance/completion.h"

namespace shoal {

namespace {

ShardMap MapOf(const ModelSpec& model, PartitionKind kind, int num_shards,
               Replicate replicate) {
  PartitionOptions options;
  options.table_kind = kind;
  options.replicate = replicate;
  options.cut_dense_bytes = 64;
  auto map = BuildShardMap(model, options, num_shards);
  EXPECT_TRUE(map.ok()) << map.status();
  return *map;
}

}  // namespace

ParameterShardOptions ShardSet::OptionsOf(int s, uint64_t max_bytes) const {
  ParameterShardOptions shard;
  shard.job = "test";
  shard.model = model_;
  shard.map = map_;
  shard.shard = s;
  shard.life = Life{1, static_cast<uint32_t>(s + 1)};
  shard.max_bytes = max_bytes;
  return shard;
}

ShardSet::ShardSet(const ModelSpec& model, PartitionKind kind, int num_shards,
                   uint64_t max_bytes, Replicate replicate)
    : model_(model), map_(MapOf(model, kind, num_shards, replicate)) {
  for (int s = 0; s < num_shards; ++s) {
    auto made = ParameterShard::Create(OptionsOf(s, max_bytes), &executor_);
    EXPECT_TRUE(made.ok()) << made.status();
    shards_.push_back(*std::move(made));
    shards_.back()->ServeUntil(absl::InfiniteFuture());
  }
}

ShardSet::ShardSet(const ModelSpec& model, PartitionKind kind, int num_shards,
                   const LoadShardOptions& load, Replicate replicate)
    : model_(model), map_(MapOf(model, kind, num_shards, replicate)) {
  for (int s = 0; s < num_shards; ++s) {
    auto made =
        ParameterShard::Load(OptionsOf(s, /*max_bytes=*/0), &executor_, load);
    EXPECT_TRUE(made.ok()) << made.status();
    shards_.push_back(*std::move(made));
    shards_.back()->ServeUntil(absl::InfiniteFuture());
  }
}

Manifest ShardSet::Save(const FileSystem& files, const std::string& directory,
                        uint64_t attempt) {
  Manifest manifest;
  manifest.step = shards_[0]->TotalMarks().applied;
  manifest.time = absl::FromUnixMicros(1'700'000'000'000'000);
  manifest.job = "test";
  manifest.attempt = attempt;
  manifest.model = model_;
  manifest.map = map_;
  for (auto& shard : shards_) {
    SaveShardOptions options;
    options.files = &files;
    options.directory = directory;
    options.attempt = attempt;
    options.step = manifest.step;
    auto entry = shard->Save(options);
    EXPECT_TRUE(entry.ok()) << entry.status();
    if (!entry.ok()) return manifest;
    // As it goes to the coordinator.
    auto again = ShardEntryFromText(ShardEntryToText(*entry));
    EXPECT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(*again, *entry);
    manifest.shards.push_back(*std::move(again));
  }
  const absl::Status written = WriteManifest(files, directory, manifest);
  EXPECT_TRUE(written.ok()) << written;
  return manifest;
}

CallIdentity ShardSet::Identity(int s) const {
  return {"test", Life{1, 100}, Life{1, static_cast<uint32_t>(s + 1)},
          map_.version};
}

absl::StatusOr<PushReply> ShardSet::Push(int s, const BatchGradient& gradient,
                                         uint64_t lease,
                                         absl::Duration timeout) {
  std::vector<FeatureId> ids;
  std::vector<float> values;
  for (const auto& [id, row] : gradient.rows) {
    if (ShardOf(map_.tables[0], id) != s) continue;
    ids.push_back(id);
    values.insert(values.end(), row.begin(), row.end());
  }
  PushRequest request;
  request.identity = Identity(s);
  request.batches = {{.id = gradient.batch, .lease = lease}};
  request.batches.insert(request.batches.end(), gradient.more.begin(),
                         gradient.more.end());
  if (!ids.empty()) request.tables = {{0, ids, values}};
  for (size_t b = 0; b < map_.blocks.size(); ++b) {
    const DenseBlock& block = map_.blocks[b];
    if (block.shard != s || gradient.dense.empty()) continue;
    request.blocks.push_back({static_cast<uint32_t>(b),
                              absl::MakeConstSpan(gradient.dense)
                                  .subspan(block.flat_begin, block.size())});
  }
  return CallAndWait<PushReply>([&](Done<PushReply> done) {
    shards_[s]->Push(request, timeout, std::move(done));
  });
}

void ShardSet::Pull(int s, PullRequest request) {
  request.identity = Identity(s);
  const auto pulled = CallAndWait<PullReply>([&](Done<PullReply> done) {
    shards_[s]->Pull(request, absl::Seconds(30), std::move(done));
  });
  EXPECT_TRUE(pulled.ok()) << pulled.status();
}

void ShardSet::Touch(const std::vector<FeatureId>& ids) { Rows(ids); }

std::vector<float> ShardSet::Rows(const std::vector<FeatureId>& ids) {
  const size_t dim = model_.tables[0].row_dim();
  std::vector<float> values(ids.size() * dim);
  for (size_t i = 0; i < ids.size(); ++i) {
    PullRequest request;
    request.tables = {{0, absl::MakeConstSpan(&ids[i], 1),
                       absl::MakeSpan(values).subspan(i * dim, dim)}};
    Pull(ShardOf(map_.tables[0], ids[i]), request);
  }
  return values;
}

std::vector<float> ShardSet::Dense() {
  std::vector<float> values(model_.dense_size());
  for (size_t b = 0; b < map_.blocks.size(); ++b) {
    const DenseBlock& block = map_.blocks[b];
    PullRequest request;
    request.blocks = {
        {static_cast<uint32_t>(b),
         absl::MakeSpan(values).subspan(block.flat_begin, block.size())}};
    Pull(block.shard, request);
  }
  return values;
}

StatsReply ShardSet::Stats(int s) {
  auto stats = CallAndWait<StatsReply>([&](Done<StatsReply> done) {
    shards_[s]->Stats({Identity(s)}, absl::Seconds(30), std::move(done));
  });
  EXPECT_TRUE(stats.ok()) << stats.status();
  return *std::move(stats);
}

uint64_t ShardSet::Digest() {
  uint64_t digest = 0;
  for (int s = 0; s < num_shards(); ++s) digest += Stats(s).digest;
  return digest;
}

}  // namespace shoal
