#include "partitioner/balance.h"

#include <string>

#include "core/canary.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "partitioner/build_shard_map.h"

namespace shoal {
namespace {

using ::testing::HasSubstr;

ModelSpec Model() {
  ModelSpec model;
  ColumnSpec w, v;
  w.variable = "w";
  w.dim = 1;
  w.optimizer.kind = OptimizerKind::kSgd;
  v.variable = "v";
  v.dim = 4;
  v.optimizer.kind = OptimizerKind::kAdam;
  model.tables.push_back({"fm", 5, {w, v}});
  DenseSpec dense;
  dense.name = "d";
  dense.shape = {7};
  dense.optimizer.kind = OptimizerKind::kAdagrad;
  model.dense.push_back(dense);
  return model;
}

TEST(BalanceTest, PlansRowsAndBytesWithSlots) {
  const ModelSpec model = Model();
  const ShardMap map = BuildShardMap(model, {}, 2).value();
  const BalanceReport report = PlanBalance(model, map);
  // A row: 1 + 4 weights, 0 + 8 of Adam's slots, 52 bytes. d and its
  // accumulators, 56 bytes, are on shard 0.
  ASSERT_EQ(report.size(), 2u);
  EXPECT_EQ(report[0].rows, 3u);
  EXPECT_EQ(report[0].bytes, 3u * 52 + 56);
  EXPECT_EQ(report[1].rows, 2u);
  EXPECT_EQ(report[1].bytes, 2u * 52);
  EXPECT_EQ(report[0].lookups, 0u);
}

TEST(BalanceTest, ATableOnEveryShardIsLeftOut) {
  ModelSpec model = Model();
  const BalanceReport without =
      PlanBalance(model, BuildShardMap(model, {}, 2).value());
  AddCanary(&model);
  const BalanceReport with =
      PlanBalance(model, BuildShardMap(model, {}, 2).value());
  for (int shard = 0; shard < 2; ++shard) {
    EXPECT_EQ(with[shard].rows, without[shard].rows);
    EXPECT_EQ(with[shard].bytes, without[shard].bytes);
  }
}

TEST(BalanceTest, AReplicatedShardCountsOnce) {
  const ModelSpec model = Model();
  PartitionOptions options;
  options.replicate = Replicate::kDense;
  const BalanceReport hybrid =
      PlanBalance(model, BuildShardMap(model, options, 3).value());
  ASSERT_EQ(hybrid.size(), 3u);
  EXPECT_EQ(hybrid[0].rows, 3u);
  EXPECT_EQ(hybrid[1].rows, 2u);
  EXPECT_EQ(hybrid[2].rows, 0u);
  EXPECT_EQ(hybrid[2].bytes, 56u);
  options.replicate = Replicate::kAll;
  const BalanceReport ring =
      PlanBalance(model, BuildShardMap(model, options, 1).value());
  ASSERT_EQ(ring.size(), 1u);
  EXPECT_EQ(ring[0].rows, 5u);
  EXPECT_EQ(ring[0].bytes, 5u * 52 + 56);
}

TEST(BalanceTest, SkewIsLargestOverMean) {
  const BalanceReport report = {{300, 1, 0}, {100, 1, 0}};
  EXPECT_DOUBLE_EQ(BytesSkew(report), 1.5);
  EXPECT_DOUBLE_EQ(RowsSkew(report), 1);
  EXPECT_DOUBLE_EQ(LookupsSkew(report), 1) << "nothing is even";
  EXPECT_DOUBLE_EQ(BytesSkew({}), 1);
}

TEST(BalanceTest, TableHasALineAShardAndTheSkews) {
  const std::string text = FormatBalance({{300, 11, 7}, {100, 13, 9}});
  EXPECT_EQ(text,
            "shard               bytes           rows         look-ups\n"
            "0                     300             11                7\n"
            "1                     100             13                9\n"
            "max/mean            1.500          1.083            1.125\n");
}

}  // namespace
}  // namespace shoal
