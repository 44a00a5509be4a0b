#include "tests/checkpoint/small_checkpoint.h"

#include <map>
#include <utility>
#include <vector>

#include "base/path.h"
#include "checkpoint/checkpoint_directory.h"
#include "checkpoint/safetensors_writer.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

template <typename T>
absl::string_view Bytes(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()),
          values.size() * sizeof(T)};
}

ShardEntry WriteShard(const FileSystem& files, const std::string& directory,
                      int shard) {
  const std::vector<int64_t> ids = {2 * shard, 2 * shard + 1};
  const std::vector<float> rows = {1.5f, -2, 0.25f, 4.0f + shard};
  const std::vector<float> dense = {0.5f, 8};
  auto writer = SafetensorsWriter::Create(
      &files, JoinPath(directory, ShardFileName(shard, 2)), /*attempt=*/3,
      {{"format", "shoal-shard"}},
      {{"fm@ids", DType::kI64, {2}},
       {"fm_v", DType::kF32, {2, 2}},
       {"deep", DType::kF32, {1, 2}}});
  EXPECT_TRUE(writer.ok()) << writer.status();
  EXPECT_TRUE((*writer)->Append(0, Bytes(ids)).ok());
  EXPECT_TRUE((*writer)->Append(1, Bytes(rows)).ok());
  EXPECT_TRUE((*writer)->Append(2, Bytes(dense)).ok());
  auto written = (*writer)->Commit();
  EXPECT_TRUE(written.ok()) << written.status();
  ShardEntry entry;
  entry.shard = shard;
  entry.attempt = 3;
  entry.file = *std::move(written);
  entry.rows = 2;
  entry.lookups = 100 + 50 * shard;
  entry.marks = 7;
  entry.marks_digest = 0xfedcba9876543210;
  entry.variables = {{"fm_v", 2, 16, 100u + 50 * shard}, {"deep", 0, 8, 0}};
  return entry;
}

}  // namespace

Manifest WriteSmallCheckpoint(const FileSystem& files,
                              const std::string& directory, uint64_t step) {
  EXPECT_TRUE(files.CreateDirectories(directory).ok());
  Manifest manifest;
  manifest.step = step;
  manifest.time = absl::FromUnixMicros(1'795'000'000'123'456);
  manifest.job = "job-1";
  manifest.attempt = 3;
  manifest.start = 0x3a5f2e10c4d79b68;
  manifest.config = "batch_size=4\nmodel=\"fm\"\n";
  OptimizerSpec sgd;
  sgd.kind = OptimizerKind::kSgd;
  sgd.learning_rate = 0.1f;
  manifest.model.model = "fm";
  manifest.model.seed = 18446744073709551615u;
  TableSpec table;
  table.name = "fm";
  table.feature_size = 4;
  table.columns = {{"fm_v", 2, sgd, {InitializerKind::kUniform, 0.3f}}};
  manifest.model.tables = {table};
  manifest.model.dense = {{"deep", {2, 2}, sgd, {}}};
  manifest.map.num_shards = 2;
  manifest.map.tables = {{PartitionKind::kFixedSize, 4, 2}};
  manifest.map.blocks = {{0, 0, 2, 0, 0}, {0, 2, 4, 1, 2}};
  manifest.data.batch_size = 4;
  manifest.data.num_epochs = 2;
  manifest.data.sources = {{"tr\xc3\xa4in\xff.txt", 1000, 0x1234abcd}};
  manifest.data.pieces = {{0, 0, 600, SavedPieceFacts{12, 1, 3, 0xfeedbeef}},
                          {0, 600, 1000, std::nullopt}};
  manifest.totals = {20, 1, 6, 1, 2, 3, 4};
  manifest.notes = {{"next_lease", "17"}};
  for (int shard = 0; shard < 2; ++shard) {
    manifest.shards.push_back(WriteShard(files, directory, shard));
  }
  const absl::Status written = WriteManifest(files, directory, manifest);
  EXPECT_TRUE(written.ok()) << written;
  return manifest;
}

}  // namespace shoal
