#include "partitioner/table_partition.h"

#include <set>
#include <vector>

#include "base/stable_hash.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

using ::testing::ElementsAre;

std::vector<FeatureId> IdsOf(const TablePartition& partition, int shard) {
  std::vector<FeatureId> ids;
  for (FeatureId id = 0; id < partition.feature_size; ++id) {
    if (ShardOf(partition, id) == shard) ids.push_back(id);
  }
  return ids;
}

TEST(TablePartitionTest, FixedSizeGivesContiguousRanges) {
  const TablePartition p{PartitionKind::kFixedSize, 5, 2};
  EXPECT_THAT(IdsOf(p, 0), ElementsAre(0, 1, 2));
  EXPECT_THAT(IdsOf(p, 1), ElementsAre(3, 4));
}

// ElasticDL's checkpoint test, 2 servers to 3.
TEST(TablePartitionTest, ModDealsIdsInTurn) {
  const TablePartition p{PartitionKind::kMod, 6, 3};
  EXPECT_THAT(IdsOf(p, 0), ElementsAre(0, 3));
  EXPECT_THAT(IdsOf(p, 1), ElementsAre(1, 4));
  EXPECT_THAT(IdsOf(p, 2), ElementsAre(2, 5));
}

// Placement is a file format: a change here orphans every checkpoint.
TEST(TablePartitionTest, HashPlacementIsFixedForEver) {
  const TablePartition p{PartitionKind::kHash, 1000, 7};
  std::vector<int> shards;
  for (const FeatureId id : {0, 1, 2, 3, 4, 5, 6, 7, 100, 999}) {
    shards.push_back(ShardOf(p, id));
  }
  EXPECT_THAT(shards, ElementsAre(2, 2, 4, 2, 6, 3, 3, 2, 3, 0));
  EXPECT_EQ(StableHash(uint64_t{0}), 0xe220a8397b1dcdafull);
}

TEST(TablePartitionTest, HashSharesAreNearlyEven) {
  const TablePartition p{PartitionKind::kHash, 100000, 8};
  std::vector<int> rows(8);
  for (FeatureId id = 0; id < p.feature_size; ++id) ++rows[ShardOf(p, id)];
  for (const int n : rows) {
    EXPECT_NEAR(n, 12500, 600);  // 5.7 standard deviations
  }
}

TEST(TablePartitionTest, RowsRoundTripOverUnevenSizes) {
  for (const PartitionKind kind :
       {PartitionKind::kFixedSize, PartitionKind::kMod}) {
    for (uint64_t size = 1; size <= 33; ++size) {
      for (int shards = 1; shards <= 36; ++shards) {
        const TablePartition p{kind, size, shards};
        uint64_t rows = 0;
        for (int shard = 0; shard < shards; ++shard) {
          rows += RowsOnShard(p, shard);
          for (uint64_t row = 0; row < RowsOnShard(p, shard); ++row) {
            const FeatureId id = GlobalRow(p, shard, row);
            ASSERT_LT(id, size);
            ASSERT_EQ(ShardOf(p, id), shard);
            ASSERT_EQ(LocalRow(p, id), row);
          }
        }
        ASSERT_EQ(rows, size);
      }
    }
  }
}

TEST(TablePartitionTest, EveryIdHasOneOwnerInRange) {
  for (const PartitionKind kind :
       {PartitionKind::kFixedSize, PartitionKind::kMod, PartitionKind::kHash}) {
    for (const int shards : {1, 2, 3, 7, 64}) {
      const TablePartition p{kind, 50, shards};
      for (FeatureId id = 0; id < 50; ++id) {
        ASSERT_GE(ShardOf(p, id), 0);
        ASSERT_LT(ShardOf(p, id), shards);
      }
    }
  }
}

TEST(TablePartitionTest, AFurtherShardOfTheMapHasNoRows) {
  for (const PartitionKind kind :
       {PartitionKind::kFixedSize, PartitionKind::kMod}) {
    EXPECT_EQ(RowsOnShard({kind, 50, 2}, 1), 25u);
    EXPECT_EQ(RowsOnShard({kind, 50, 2}, 2), 0u);
  }
}

TEST(TablePartitionTest, HoldsAtTheLargestTable) {
  const uint64_t size = (uint64_t{1} << 48) - 1;
  const TablePartition p{PartitionKind::kFixedSize, size, 65535};
  for (const FeatureId id : {uint64_t{0}, size / 3, size - 1}) {
    EXPECT_EQ(GlobalRow(p, ShardOf(p, id), LocalRow(p, id)), id);
  }
  EXPECT_EQ(ShardOf(p, size - 1), 65534);
}

}  // namespace
}  // namespace shoal
