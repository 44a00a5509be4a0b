#include "partitioner/build_shard_map.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/canary.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

using ::testing::HasSubstr;

DenseSpec Dense(std::string name, std::vector<int64_t> shape) {
  DenseSpec spec;
  spec.name = std::move(name);
  spec.shape = std::move(shape);
  return spec;
}

ModelSpec SmallDeepFm() {
  ModelSpec model;
  model.model = "deepfm";
  ColumnSpec w, v;
  w.variable = "fm_w";
  w.dim = 1;
  v.variable = "fm_v";
  v.dim = 8;
  model.tables.push_back({"fm", 1000, {w, v}});
  model.dense = {Dense("bias", {}),         Dense("w0", {312, 128}),
                 Dense("b0", {128}),        Dense("w1", {128, 64}),
                 Dense("b1", {64}),         Dense("wide", {1, 40000}),
                 Dense("tall", {40000, 1}), Dense("out", {64, 1})};
  return model;
}

// A line for each table and for each block, in the map's order.
std::string TextOf(const ModelSpec& model, const ShardMap& map) {
  std::string text = absl::StrCat("version ", map.version, ", ",
                                  map.num_shards, " shards\n");
  for (const TablePartition& table : map.tables) {
    absl::StrAppend(&text, "table ", static_cast<int>(table.kind), " ",
                    table.feature_size, " over ", table.num_shards, "\n");
  }
  for (const DenseBlock& block : map.blocks) {
    absl::StrAppend(&text, model.dense[block.variable].name, " [", block.begin,
                    ", ", block.end, ") at ", block.flat_begin, " on ",
                    block.shard, "\n");
  }
  return text;
}

const DenseBlock* FindBlock(const ShardMap& map, int variable, int shard) {
  for (const DenseBlock& block : map.blocks) {
    if (block.variable == variable && block.shard == shard) return &block;
  }
  return nullptr;
}

TEST(BuildShardMapTest, BlocksCoverEveryDenseElementOnceInFlatOrder) {
  const ModelSpec model = SmallDeepFm();
  for (const int shards : {1, 2, 3, 5, 8, 400, 65535}) {
    const ShardMap map = BuildShardMap(model, {}, shards).value();
    EXPECT_EQ(map.num_shards, shards);
    int64_t flat = 0;
    std::vector<int64_t> next(model.dense.size(), 0);
    for (const DenseBlock& block : map.blocks) {
      ASSERT_EQ(block.flat_begin, flat);
      ASSERT_EQ(block.begin, next[block.variable]);
      ASSERT_GT(block.size(), 0);
      ASSERT_EQ(block.begin % model.dense[block.variable].row_size(), 0)
          << "whole rows of axis 0";
      ASSERT_GE(block.shard, 0);
      ASSERT_LT(block.shard, shards);
      next[block.variable] = block.end;
      flat += block.size();
    }
    EXPECT_EQ(flat, model.dense_size());
    for (size_t v = 0; v < model.dense.size(); ++v) {
      EXPECT_EQ(next[v], model.dense[v].size());
    }
  }
}

// Worked out by hand: a checkpoint and every process of a job rely on it.
constexpr char kMapOverThree[] =
    "version 1, 3 shards\n"
    "table 0 1000 over 3\n"
    "bias [0, 1) at 0 on 0\n"
    "w0 [0, 13312) at 1 on 0\n"
    "w0 [13312, 26624) at 13313 on 1\n"
    "w0 [26624, 39936) at 26625 on 2\n"
    "b0 [0, 128) at 39937 on 0\n"
    "w1 [0, 8192) at 40065 on 2\n"
    "b1 [0, 64) at 48257 on 0\n"
    "wide [0, 40000) at 48321 on 1\n"
    "tall [0, 13334) at 88321 on 0\n"
    "tall [13334, 26667) at 101655 on 1\n"
    "tall [26667, 40000) at 114988 on 2\n"
    "out [0, 64) at 128321 on 0\n";

TEST(BuildShardMapTest, TheMapOfAModelStaysAsItIs) {
  const ModelSpec model = SmallDeepFm();
  EXPECT_EQ(TextOf(model, BuildShardMap(model, {}, 3).value()), kMapOverThree);
}

TEST(BuildShardMapTest, CutsLargeVariablesAndKeepsSmallOnesWhole) {
  const ShardMap map = BuildShardMap(SmallDeepFm(), {}, 5).value();
  // w0: 312 × 128 floats are 156 KiB; 312 rows over 5 are 63 63 62 62 62.
  ASSERT_NE(FindBlock(map, 1, 0), nullptr);
  EXPECT_EQ(FindBlock(map, 1, 0)->size(), 63 * 128);
  EXPECT_EQ(FindBlock(map, 1, 4)->begin, (2 * 63 + 2 * 62) * 128);
  EXPECT_EQ(FindBlock(map, 1, 4)->size(), 62 * 128);
  int blocks_of_w1 = 0;
  int blocks_of_wide = 0;
  for (const DenseBlock& block : map.blocks) {
    blocks_of_w1 += block.variable == 3;
    blocks_of_wide += block.variable == 5;
  }
  EXPECT_EQ(blocks_of_w1, 1) << "32 KiB stay whole";
  EXPECT_EQ(blocks_of_wide, 1) << "one row cannot be cut";
}

TEST(BuildShardMapTest, PlacesWholeVariablesLargestFirstOnTheEmptiest) {
  ModelSpec model;
  model.dense = {Dense("v", {2}), Dense("u", {4}), Dense("x", {3}),
                 Dense("w", {4})};
  const ShardMap map = BuildShardMap(model, {}, 2).value();
  // u -> 0, w -> 1, x -> 0, v -> 1; blocks are by flat position.
  ASSERT_EQ(map.blocks.size(), 4u);
  EXPECT_EQ(map.blocks[0].shard, 1);  // v
  EXPECT_EQ(map.blocks[1].shard, 0);  // u
  EXPECT_EQ(map.blocks[2].shard, 0);  // x
  EXPECT_EQ(map.blocks[3].shard, 1);  // w
}

TEST(BuildShardMapTest, VariableWithFewerRowsThanShardsLeavesTheLastWithout) {
  ModelSpec model;
  model.dense = {Dense("w", {3, 100000})};
  const ShardMap map = BuildShardMap(model, {}, 8).value();
  ASSERT_EQ(map.blocks.size(), 3u);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(map.blocks[i].shard, i);
    EXPECT_EQ(map.blocks[i].size(), 100000);
  }
}

TEST(BuildShardMapTest, TablesTakeTheKindAndTheirOwnSize) {
  PartitionOptions options;
  options.table_kind = PartitionKind::kMod;
  const ShardMap map = BuildShardMap(SmallDeepFm(), options, 3).value();
  ASSERT_EQ(map.tables.size(), 1u);
  EXPECT_EQ(map.tables[0].kind, PartitionKind::kMod);
  EXPECT_EQ(map.tables[0].feature_size, 1000u);
  EXPECT_EQ(map.tables[0].num_shards, 3);
}

// A table of a known size, a dynamic table and the canary's.
ModelSpec ThreeTables() {
  ModelSpec model = SmallDeepFm();
  ColumnSpec column;
  column.variable = "x";
  column.dim = 1;
  model.tables.push_back({"dynamic", 0, {column}});
  AddCanary(&model);
  return model;
}

TEST(BuildShardMapTest, NothingIsReplicatedUnlessItIsAskedFor) {
  for (const int shards : {1, 2, 3}) {
    const ShardMap map = BuildShardMap(ThreeTables(), {}, shards).value();
    EXPECT_EQ(map.replicated, -1);
    for (const TablePartition& table : map.tables) {
      EXPECT_EQ(table.num_shards, shards);
    }
  }
}

TEST(BuildShardMapTest, TheReplicatedShardHoldsEveryVariableOnce) {
  const ModelSpec model = ThreeTables();
  PartitionOptions options;
  options.replicate = Replicate::kAll;
  const ShardMap map = BuildShardMap(model, options, 1).value();
  EXPECT_EQ(map.replicated, 0);
  // The variables lie as on the one shard of a job with one server.
  EXPECT_EQ(TextOf(model, map),
            TextOf(model, BuildShardMap(model, {}, 1).value()));
}

TEST(BuildShardMapTest, TheReplicatedShardHoldsTheDenseVariablesAlone) {
  const ModelSpec model = ThreeTables();
  PartitionOptions options;
  options.replicate = Replicate::kDense;
  for (const int shards : {2, 3, 5}) {
    const ShardMap map = BuildShardMap(model, options, shards).value();
    EXPECT_EQ(map.num_shards, shards);
    EXPECT_EQ(map.replicated, shards - 1);
    EXPECT_EQ(map.tables[0].num_shards, shards - 1);
    EXPECT_EQ(map.tables[1].num_shards, shards - 1);
    EXPECT_EQ(map.tables[2].num_shards, shards) << "the canary is everywhere";
    ASSERT_EQ(map.blocks.size(), model.dense.size()) << "each is whole";
    int64_t flat = 0;
    for (size_t v = 0; v < model.dense.size(); ++v) {
      EXPECT_EQ(map.blocks[v].variable, static_cast<int>(v));
      EXPECT_EQ(map.blocks[v].begin, 0);
      EXPECT_EQ(map.blocks[v].size(), model.dense[v].size());
      EXPECT_EQ(map.blocks[v].flat_begin, flat);
      EXPECT_EQ(map.blocks[v].shard, map.replicated);
      flat += model.dense[v].size();
    }
  }
}

TEST(BuildShardMapTest, RefusesNumbersOfShardsThatCannotBeReplicated) {
  PartitionOptions options;
  options.replicate = Replicate::kAll;
  absl::Status refused = BuildShardMap(SmallDeepFm(), options, 2).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(refused.message()),
              HasSubstr("the number of shards is 2"));
  options.replicate = Replicate::kDense;
  refused = BuildShardMap(SmallDeepFm(), options, 1).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(refused.message()),
              HasSubstr("the number of shards is 1"));
}

TEST(BuildShardMapTest, RefusesNumbersOfShardsOutOfRange) {
  for (const int shards : {-1, 0, 65536}) {
    const auto map = BuildShardMap(SmallDeepFm(), {}, shards);
    ASSERT_EQ(map.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(map.status().message()),
                HasSubstr(std::to_string(shards)));
  }
}

TEST(BuildShardMapTest, RefusesAModelThatDoesNotValidate) {
  ModelSpec model = SmallDeepFm();
  model.dense[2].name = "bias";
  const auto map = BuildShardMap(model, {}, 2);
  ASSERT_EQ(map.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(map.status().message()), HasSubstr("bias"));
}

TEST(BuildShardMapTest, ATablesPlaceGoesByItsKind) {
  ModelSpec model;
  ColumnSpec column;
  column.variable = "w";
  column.dim = 1;
  model.tables.push_back({"array", 10, {column}});
  column.variable = "x";
  model.tables.push_back({"dynamic", 0, {column}});
  AddCanary(&model);
  PartitionOptions options;
  options.table_kind = PartitionKind::kMod;
  const ShardMap map = BuildShardMap(model, options, 3).value();
  ASSERT_EQ(map.tables.size(), 3u);
  EXPECT_EQ(map.tables[0].kind, PartitionKind::kMod);
  EXPECT_EQ(map.tables[1].kind, PartitionKind::kHash);
  EXPECT_EQ(map.tables[1].feature_size, 0u);
  EXPECT_EQ(map.tables[2].kind, PartitionKind::kEveryShard);
  options.table_kind = PartitionKind::kHash;
  const absl::Status refused = BuildShardMap(model, options, 3).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(refused.message().find("'array'"), absl::string_view::npos);
}

}  // namespace
}  // namespace shoal
