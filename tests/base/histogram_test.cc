#include "base/histogram.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

TEST(Histogram, EmptyIsZeroEverywhere) {
  const Histogram h;
  EXPECT_EQ(h.count(), 0u);
  EXPECT_EQ(h.mean(), 0);
  EXPECT_EQ(h.max(), 0u);
  EXPECT_EQ(h.Quantile(0.5), 0u);
  EXPECT_THAT(h.buckets(), IsEmpty());
}

TEST(Histogram, SmallValuesAreExact) {
  Histogram h;
  for (uint64_t value = 0; value < 1024; ++value) h.Add(value);
  EXPECT_EQ(h.buckets().size(), 1024u);
  EXPECT_EQ(h.count(), 1024u);
  EXPECT_EQ(h.mean(), 511.5);
  EXPECT_EQ(h.max(), 1023u);
}

TEST(Histogram, AQuantileIsTheSmallestValueWithEnoughBelowIt) {
  Histogram h;
  h.Add(1, 50);
  h.Add(2, 49);
  h.Add(7);
  EXPECT_EQ(h.Quantile(0), 1u);
  EXPECT_EQ(h.Quantile(0.5), 1u);
  EXPECT_EQ(h.Quantile(0.51), 2u);
  EXPECT_EQ(h.Quantile(0.99), 2u);
  EXPECT_EQ(h.Quantile(1), 7u);
}

TEST(Histogram, LargeValuesKeepTheirSizeAndTheBucketsStayFew) {
  for (uint64_t value = 1024; value < uint64_t{1} << 60;
       value += value / 7 + 1) {
    Histogram h;
    h.Add(value);
    const uint64_t edge = h.buckets().begin()->first;
    ASSERT_LE(edge, value);
    ASSERT_LT(static_cast<double>(value - edge), 0.016 * value) << value;
    ASSERT_EQ(h.max(), value);
  }
  Histogram all;
  for (uint64_t value = 1; value < uint64_t{1} << 63; value += value / 300 + 1)
    all.Add(value);
  all.Add(~uint64_t{0});
  EXPECT_LT(all.buckets().size(), 1024u + 64 * 54);
}

TEST(Histogram, MergeIsTheSameAsAddingAll) {
  Histogram a, b, both;
  for (const uint64_t value : {1ull, 5ull, 1ull << 20}) {
    a.Add(value, 3);
    both.Add(value, 3);
  }
  for (const uint64_t value : {0ull, 5ull, 1ull << 30}) {
    b.Add(value, 2);
    both.Add(value, 2);
  }
  a.Merge(b);
  EXPECT_EQ(a.buckets(), both.buckets());
  EXPECT_EQ(a.count(), both.count());
  EXPECT_EQ(a.mean(), both.mean());
  EXPECT_EQ(a.max(), both.max());
}

TEST(Histogram, AddingNoneLeavesNoBucket) {
  Histogram h;
  h.Add(9, 0);
  EXPECT_THAT(h.buckets(), IsEmpty());
  EXPECT_EQ(h.max(), 0u);
  h.Add(9, 2);
  EXPECT_THAT(h.buckets(), ElementsAre(Pair(9u, 2u)));
}

}  // namespace
}  // namespace shoal
