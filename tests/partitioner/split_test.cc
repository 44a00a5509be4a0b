#include "partitioner/split.h"

#include <vector>

#include "base/stable_hash.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "partitioner/table_partition.h"

namespace shoal {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr PartitionKind kKinds[] = {PartitionKind::kFixedSize,
                                    PartitionKind::kMod, PartitionKind::kHash};

void ExpectIsSplitOf(const IdSplit& split, const TablePartition& partition,
                     const std::vector<FeatureId>& ids) {
  ASSERT_EQ(split.ids.size(), ids.size());
  ASSERT_EQ(split.position.size(), ids.size());
  ASSERT_EQ(split.begin.size(), partition.num_shards + 1u);
  EXPECT_EQ(split.begin.front(), 0u);
  EXPECT_EQ(split.begin.back(), ids.size());
  std::vector<bool> taken(ids.size());
  std::vector<uint32_t> last(partition.num_shards, 0);
  for (size_t i = 0; i < ids.size(); ++i) {
    const uint32_t to = split.position[i];
    ASSERT_LT(to, ids.size());
    EXPECT_FALSE(taken[to]) << "two ids at position " << to;
    taken[to] = true;
    EXPECT_EQ(split.ids[to], ids[i]);
    const int shard = ShardOf(partition, ids[i]);
    EXPECT_GE(to, split.begin[shard]);
    EXPECT_LT(to, split.begin[shard + 1]);
    EXPECT_GE(to, last[shard]) << "order within a shard is the input's";
    last[shard] = to;
  }
}

std::vector<FeatureId> DistinctIds(uint64_t size, uint64_t stride) {
  std::vector<FeatureId> ids;
  for (uint64_t i = 0; i < size; i += stride) {
    ids.push_back((i * 7919 + 13) % size);  // 7919 is prime to every size used
  }
  return ids;
}

TEST(SplitTest, GroupsByOwnerAndKeepsOrder) {
  IdSplit split;
  SplitIds({PartitionKind::kMod, 6, 3}, {5, 0, 4, 3, 1}, &split);
  EXPECT_THAT(split.ids, ElementsAre(0, 3, 4, 1, 5));
  EXPECT_THAT(split.begin, ElementsAre(0, 2, 4, 5));
  EXPECT_THAT(split.position, ElementsAre(4, 0, 2, 1, 3));
}

TEST(SplitTest, IsAPermutationByOwnerForAnySizes) {
  IdSplit split;  // reused throughout: earlier contents must not show
  for (const PartitionKind kind : kKinds) {
    for (const int shards : {1, 2, 3, 5, 16, 700}) {
      for (const uint64_t size : {1, 2, 10, 97, 1500}) {
        const TablePartition partition{kind, size, shards};
        const std::vector<FeatureId> ids = DistinctIds(size, 1);
        SplitIds(partition, ids, &split);
        ExpectIsSplitOf(split, partition, ids);
      }
    }
  }
}

TEST(SplitTest, NoIdsGiveEmptyParts) {
  IdSplit split;
  SplitIds({PartitionKind::kHash, 10, 3}, {}, &split);
  EXPECT_THAT(split.ids, IsEmpty());
  EXPECT_THAT(split.begin, ElementsAre(0, 0, 0, 0));
}

TEST(SplitTest, OwnersAreExactAtBoundariesOfTheLargestTables) {
  IdSplit split;
  const uint64_t size = (uint64_t{1} << 48) - 5;
  for (const int shards : {2, 3, 7, 1000, 65535}) {
    const TablePartition partition{PartitionKind::kFixedSize, size, shards};
    std::vector<FeatureId> ids;
    for (int shard = 1; shard < shards; shard += 1 + shards / 50) {
      const FeatureId first = GlobalRow(partition, shard, 0);
      ids.insert(ids.end(), {first - 1, first, first + 1});
    }
    ids.push_back(size - 1);
    SplitIds(partition, ids, &split);
    ExpectIsSplitOf(split, partition, ids);
  }
}

}  // namespace
}  // namespace shoal
