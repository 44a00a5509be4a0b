#include "partitioner/fixed_size.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

using ::testing::ElementsAre;

std::vector<uint64_t> Lengths(uint64_t length, uint64_t parts) {
  std::vector<uint64_t> lengths;
  for (uint64_t part = 0; part < parts; ++part) {
    lengths.push_back(FixedSizeLength(length, parts, part));
  }
  return lengths;
}

// tensorflow/python/kernel_tests/variables/partitioned_variables_test.py
TEST(FixedSizeTest, PartitionsAreTensorFlows) {
  EXPECT_THAT(FixedSizePartitions({10, 10}, 5), ElementsAre(5, 1));
  EXPECT_THAT(FixedSizePartitions({10, 10}, 5, 1), ElementsAre(1, 5));
  EXPECT_THAT(FixedSizePartitions({3, 10}, 5), ElementsAre(3, 1));
  EXPECT_THAT(FixedSizePartitions({7}, 2), ElementsAre(2));
}

// tensorflow/python/distribute/sharded_variable_test.py: (5, 2) on 2.
TEST(FixedSizeTest, FirstPartsOfAnUnevenCutGetOneMore) {
  EXPECT_THAT(Lengths(5, 2), ElementsAre(3, 2));
  EXPECT_THAT(Lengths(10, 5), ElementsAre(2, 2, 2, 2, 2));
  EXPECT_THAT(Lengths(11, 4), ElementsAre(3, 3, 3, 2));
}

TEST(FixedSizeTest, LastPartsAreEmptyWhereIndicesAreFewerThanParts) {
  EXPECT_THAT(Lengths(2, 4), ElementsAre(1, 1, 0, 0));
  EXPECT_THAT(Lengths(0, 3), ElementsAre(0, 0, 0));
}

TEST(FixedSizeTest, PartsAreContiguousAndCoverTheAxis) {
  for (uint64_t length = 0; length <= 40; ++length) {
    for (uint64_t parts = 1; parts <= 45; ++parts) {
      uint64_t next = 0;
      for (uint64_t part = 0; part < parts; ++part) {
        ASSERT_EQ(FixedSizeBegin(length, parts, part), next);
        next += FixedSizeLength(length, parts, part);
        for (uint64_t i = FixedSizeBegin(length, parts, part); i < next; ++i) {
          ASSERT_EQ(FixedSizePart(length, parts, i), part);
        }
      }
      ASSERT_EQ(next, length);
      ASSERT_EQ(FixedSizeBegin(length, parts, parts), length);
    }
  }
}

}  // namespace
}  // namespace shoal
