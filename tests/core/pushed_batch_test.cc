#include "core/pushed_batch.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace shoal {
namespace {

PushedBatches List(uint32_t count) {
  PushedBatches batches;
  for (uint32_t i = 0; i < count; ++i) batches.push_back({.id = {0, 1, i}});
  return batches;
}

TEST(PushedBatches, AListHasFromOneToTheMostBatchesEachOnce) {
  for (const uint32_t count : {1u, 2u, 40u, uint32_t{kMaxPushedBatches}}) {
    EXPECT_TRUE(CheckPushedBatches(List(count)).ok()) << count;
  }
  EXPECT_EQ(CheckPushedBatches({}).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(CheckPushedBatches(List(kMaxPushedBatches + 1)).code(),
            absl::StatusCode::kInvalidArgument);
  PushedBatches twice = List(40);
  twice[39].id = twice[7].id;
  twice[39].lease = 8;  // a batch is its id, whatever the lease
  EXPECT_EQ(CheckPushedBatches(twice),
            absl::InvalidArgumentError("the push names batch (0,1,7) twice"));
}

TEST(PushedBatches, AllRejectedIsTrueIfEveryBatchIs) {
  PushedBatches batches = List(2);
  EXPECT_FALSE(AllRejected(batches));
  batches[1].rejected = true;
  EXPECT_FALSE(AllRejected(batches));
  batches[0].rejected = true;
  EXPECT_TRUE(AllRejected(batches));
}

TEST(PushedBatches, AreNamedByTheFirst) {
  EXPECT_EQ(ToString(List(1)), "batch (0,1,0)");
  EXPECT_EQ(ToString(List(40)), "batches (0,1,0) and 39 more");
}

}  // namespace
}  // namespace shoal
