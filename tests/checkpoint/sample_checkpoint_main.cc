// Trains a small model over two shards in this process and saves it, for
// tests/e2e/checkpoint_test.py: sample_checkpoint MODEL_DIR.
//
// MODEL_DIR/expected.json holds what the shards answered before they were
// saved: rows of the table by id, and the dense variables, as hexadecimal bits
// of floats, so that what other libraries read in the files can be compared.

#include <cstdint>
#include <iostream>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/file_system.h"
#include "base/json_writer.h"
#include "base/path.h"
#include "checkpoint/checkpoint_directory.h"
#include "gtest/gtest.h"
#include "tests/ps/shard_set.h"

namespace shoal {
namespace {

constexpr uint64_t kFeatures = 1000;

ModelSpec Model() {
  const InitializerSpec uniform = {InitializerKind::kUniform, 1};
  OptimizerSpec adam;
  OptimizerSpec ftrl;
  ftrl.kind = OptimizerKind::kFtrl;
  ModelSpec model;
  model.model = "sample";
  model.seed = 7;
  TableSpec table;
  table.name = "fm";
  table.feature_size = kFeatures;
  table.columns = {{"fm_w", 1, ftrl, uniform}, {"fm_v", 4, adam, uniform}};
  model.tables = {table};
  model.dense = {{"deep/weights", {6, 8}, adam, uniform},
                 {"fm_b", {1}, adam, uniform}};
  return model;
}

std::vector<uint32_t> Bits(const std::vector<float>& values) {
  std::vector<uint32_t> bits(values.size());
  std::copy(values.begin(), values.end(),
            reinterpret_cast<float*>(bits.data()));
  return bits;
}

int Main(const std::string& model_dir) {
  const auto files = NewPosixFileSystem();
  ShardSet shards(Model(), PartitionKind::kFixedSize, 2);
  std::mt19937_64 random(1);
  std::vector<FeatureId> all;
  for (FeatureId id = 0; id < kFeatures; ++id) all.push_back(id);
  shards.Touch(all);
  for (uint32_t index = 0; index < 20; ++index) {
    BatchGradient batch;
    batch.batch = {0, index / 8, index % 8};
    for (int i = 0; i < 30; ++i) {
      // Low ids far more often, as in sorted vocabularies.
      const FeatureId id = (random() % kFeatures) * (random() % kFeatures) *
                           (random() % kFeatures) / kFeatures / kFeatures;
      for (int k = 0; k < 5; ++k) {
        batch.rows[id].resize(5);
        batch.rows[id][k] = static_cast<float>(random() % 1000) / 1e3f;
      }
    }
    batch.dense.assign(49, 0.25f);
    std::vector<FeatureId> ids;
    for (const auto& [id, row] : batch.rows) ids.push_back(id);
    for (int repeat = 0; repeat < 20; ++repeat) shards.Touch(ids);
    for (int s = 0; s < 2; ++s) {
      EXPECT_TRUE(shards.Push(s, batch).ok());
    }
  }
  std::string json;
  JsonWriter w(&json);
  w.BeginObject(/*lines=*/true);
  w.Key("rows").BeginArray(/*lines=*/true);
  const std::vector<float> rows = shards.Rows(all);
  for (size_t i = 0; i < all.size(); ++i) {
    w.Hex32s(Bits({rows.begin() + i * 5, rows.begin() + (i + 1) * 5}));
  }
  w.EndArray();
  w.Key("dense").Hex32s(Bits(shards.Dense()));
  w.Key("batches").U64(20);
  w.EndObject();
  EXPECT_TRUE(files->CreateDirectories(model_dir).ok());
  EXPECT_TRUE(
      files->WriteFileAtomically(JoinPath(model_dir, "expected.json"), json)
          .ok());
  shards.Save(*files, JoinPath(model_dir, CheckpointName(20)));
  return testing::Test::HasFailure() ? 1 : 0;
}

}  // namespace
}  // namespace shoal

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: sample_checkpoint MODEL_DIR\n";
    return 2;
  }
  return shoal::Main(argv[1]);
}
