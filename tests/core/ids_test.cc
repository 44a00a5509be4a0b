#include "core/ids.h"

#include "absl/container/flat_hash_set.h"
#include "core/lease.h"
#include "core/mark.h"
#include "core/registration.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

TEST(Life, ALaterStartOrALaterRegistrationIsLarger) {
  EXPECT_LT((Life{1, 9}), (Life{2, 1}));
  EXPECT_LT((Life{1, 1}), (Life{1, 2}));
  EXPECT_FALSE(Life().valid());
  EXPECT_TRUE((Life{1, 0}).valid());
  EXPECT_EQ(ToString(Life{3, 14}), "3.14");
  EXPECT_LT((Life{0x1'0000'0001, 9}), (Life{0x2'0000'0001, 1}));
  EXPECT_EQ(ToString(Life{0x3a5f2e10c4d79b68, 14}), "3a5f2e10c4d79b68.14");
}

TEST(BatchId, OrdersByEpochThenPieceThenIndex) {
  EXPECT_LT((BatchId{0, 9, 9}), (BatchId{1, 0, 0}));
  EXPECT_LT((BatchId{1, 0, 9}), (BatchId{1, 1, 0}));
  EXPECT_EQ(ToString(BatchId{1, 2, 3}), "(1,2,3)");
}

TEST(Ids, ServeAsKeys) {
  EXPECT_EQ((absl::flat_hash_set<Life>{{0, 1}, {1, 0}, {1, 0}}).size(), 2u);
  EXPECT_EQ(
      (absl::flat_hash_set<BatchId>{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}).size(),
      3u);
  EXPECT_TRUE((absl::flat_hash_set<BatchId>{{1, 2, 3}}).contains({1, 2, 3}));
}

TEST(Lease, SkipsTheBatchesOfItsBitsAndNoneBeyond) {
  Lease lease;
  EXPECT_FALSE(lease.Skips(0));
  lease.skip = {0b00000010, 0b10000000};
  for (uint32_t index = 0; index < 40; ++index) {
    EXPECT_EQ(lease.Skips(index), index == 1 || index == 15) << index;
  }
}

TEST(Lease, SkipsTheBatchesOfOtherLeasesOfThePiece) {
  Lease lease;
  lease.stride = 3;
  lease.offset = 2;
  lease.skip = {0b00100000};
  for (uint32_t index = 0; index < 40; ++index) {
    const bool has = index % 3 == 2 && index != 5;
    EXPECT_EQ(lease.Skips(index), !has) << index;
  }
  lease.skip_rest = true;
  EXPECT_FALSE(lease.Skips(2));
  EXPECT_TRUE(lease.Skips(8));
}

TEST(ProcessName, IsTheRoleAndTheIndex) {
  EXPECT_EQ(ProcessName(Role::kPs, 2), "ps 2");
  EXPECT_EQ(ProcessName(Role::kWorker, 0), "worker 0");
}

TEST(SplitMarksTest, NoMessageHasMoreThanItsShareAndTheOrderIsKept) {
  MarkDelta delta;
  delta.repeats_refused = 4;
  EXPECT_EQ(SplitMarks(delta).size(), 1u) << "the count alone is a message too";
  for (uint32_t i = 0; i < 2 * kMarksPerDelta + 3; ++i) {
    delta.marks.push_back({{0, 0, i}, Verdict::kApplied, 1, false});
  }
  const std::vector<MarkDelta> parts = SplitMarks(delta);
  ASSERT_EQ(parts.size(), 3u);
  uint32_t next = 0;
  for (const MarkDelta& part : parts) {
    EXPECT_LE(part.marks.size(), kMarksPerDelta);
    EXPECT_EQ(part.repeats_refused, 4u);
    for (const Mark& mark : part.marks) ASSERT_EQ(mark.batch.index, next++);
  }
  EXPECT_EQ(next, delta.marks.size());
}

}  // namespace
}  // namespace shoal
