#include "worker/train/gradient_buckets.h"

#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Range = std::pair<size_t, size_t>;

std::vector<Range> Buckets(const std::vector<size_t>& sizes, size_t floats) {
  std::vector<Range> ranges;
  for (const DenseRange& bucket : GradientBuckets(sizes, floats)) {
    ranges.emplace_back(bucket.begin, bucket.end);
  }
  return ranges;
}

TEST(GradientBucketsTest, TheLastVariableComesFirst) {
  EXPECT_THAT(Buckets({1, 8, 8}, 8),
              ElementsAre(Range(9, 17), Range(1, 9), Range(0, 1)));
}

TEST(GradientBucketsTest, SmallVariablesArePutTogether) {
  EXPECT_THAT(Buckets({1, 2, 1, 2, 1}, 3),
              ElementsAre(Range(4, 7), Range(1, 4), Range(0, 1)));
  EXPECT_THAT(Buckets({1, 2}, 100), ElementsAre(Range(0, 3)));
}

TEST(GradientBucketsTest, ALargeVariableKeepsNoManyElementsWaiting) {
  // A quarter of 16 elements is enough for a bucket of their own, less is not.
  EXPECT_THAT(Buckets({1, 16, 2, 2}, 16),
              ElementsAre(Range(17, 21), Range(1, 17), Range(0, 1)));
  EXPECT_THAT(Buckets({1, 16, 3}, 16),
              ElementsAre(Range(1, 11), Range(11, 20), Range(0, 1)));
}

TEST(GradientBucketsTest, ALargeRegionIsCutEvenlyFromItsBeginOn) {
  EXPECT_THAT(Buckets({2, 10}, 4),
              ElementsAre(Range(2, 6), Range(6, 9), Range(9, 12), Range(0, 1),
                          Range(1, 2)));
}

TEST(GradientBucketsTest, TheLastRegionEndsWithSmallBuckets) {
  EXPECT_THAT(Buckets({100}, 32),
              ElementsAre(Range(0, 32), Range(32, 64), Range(64, 82),
                          Range(82, 91), Range(91, 100)));
  EXPECT_THAT(Buckets({16}, 32), ElementsAre(Range(0, 8), Range(8, 16)));
  EXPECT_THAT(Buckets({15}, 32), ElementsAre(Range(0, 15)));
}

TEST(GradientBucketsTest, ThereMayBeNothing) {
  EXPECT_THAT(Buckets({}, 4), IsEmpty());
  EXPECT_THAT(Buckets({0, 0}, 4), IsEmpty());
}

TEST(GradientBucketsTest, CoverEachElementOnceAndNoneIsTooLarge) {
  for (const size_t floats : {1, 2, 3, 7, 64, 1000}) {
    const std::vector<size_t> sizes = {624, 40, 0, 1600, 40, 1, 7, 1};
    size_t all = 0;
    for (const size_t size : sizes) all += size;
    std::vector<int> seen(all);
    for (const auto& [begin, end] : Buckets(sizes, floats)) {
      EXPECT_LT(begin, end);
      EXPECT_LE(end - begin, floats);
      for (size_t i = begin; i < end; ++i) ++seen[i];
    }
    EXPECT_THAT(seen, testing::Each(1)) << floats;
  }
}

std::string Taken(FinalBuckets* final) {
  std::string taken;
  while (const auto b = final->Take()) taken += std::to_string(*b);
  return taken;
}

TEST(FinalBucketsTest, ABucketIsTakenWhenItAndThoseBeforeItAreFinal) {
  FinalBuckets final({{8, 12}, {4, 8}, {0, 4}});
  EXPECT_EQ(Taken(&final), "");
  EXPECT_FALSE(final.taken());
  final.Add({4, 9});
  EXPECT_EQ(Taken(&final), "");  // bucket 1 is final, but not bucket 0
  final.Add({9, 12});
  EXPECT_EQ(Taken(&final), "01");
  EXPECT_TRUE(final.taken());
  final.Add({0, 3});
  EXPECT_EQ(Taken(&final), "");
  EXPECT_EQ(final.TakeAny(), 2u);
  EXPECT_EQ(final.TakeAny(), std::nullopt);
  final.Reset();
  EXPECT_FALSE(final.taken());
  final.Add({0, 12});
  EXPECT_EQ(Taken(&final), "012");
}

}  // namespace
}  // namespace shoal
