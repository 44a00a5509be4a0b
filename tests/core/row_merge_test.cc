#include "core/row_merge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <vector>

#include "absl/types/span.h"
#include "base/stable_hash.h"

namespace shoal {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// The gradients of one rank, with their memory.
struct Rank {
  std::vector<FeatureId> ids;
  std::vector<float> rows;
};

std::vector<RowGradients> ViewOf(const std::vector<Rank>& ranks) {
  std::vector<RowGradients> view;
  for (const Rank& rank : ranks) view.push_back({rank.ids, rank.rows});
  return view;
}

// Numbers of both signs and sizes from 2^-12 to 2^12, so that every order of
// additions has bits of its own; one in eight is −0.0.
float Draw(uint64_t key) {
  const uint64_t hash = StableHash(key);
  if (hash % 8 == 0) return -0.0f;
  const int exponent = static_cast<int>(hash >> 8 & 0xff) % 25 - 12;
  const float size = std::ldexp(1 + 0x1p-32f * (hash >> 32), exponent);
  return hash % 2 == 0 ? size : -size;
}

// `size` distinct ids below `range`, from a place that depends on the seed, in
// an order of the rank's own. REQUIRES: size <= range.
Rank DrawRank(uint64_t seed, size_t size, uint64_t range, int dim) {
  Rank rank;
  std::vector<bool> has(range);
  for (uint64_t i = 0; rank.ids.size() < size; ++i) {
    const FeatureId id = StableHashCombine(seed, i) % range;
    if (has[id]) continue;
    has[id] = true;
    rank.ids.push_back(id << 40);  // ids need not be small
  }
  for (size_t k = 0; k < size * dim; ++k) {
    rank.rows.push_back(Draw(StableHashCombine(~seed, k)));
  }
  return rank;
}

std::vector<uint32_t> Bits(absl::Span<const float> values) {
  std::vector<uint32_t> bits;
  for (const float value : values) {
    bits.push_back(std::bit_cast<uint32_t>(value));
  }
  return bits;
}

// The obvious way to do it.
void ExpectLikeMap(const RowMerge& merge, const std::vector<Rank>& ranks,
                   int dim) {
  std::vector<FeatureId> ids;
  std::map<FeatureId, std::vector<float>> sums;
  for (const Rank& rank : ranks) {
    for (size_t i = 0; i < rank.ids.size(); ++i) {
      const float* row = rank.rows.data() + i * dim;
      const auto [at, first] =
          sums.try_emplace(rank.ids[i], std::vector<float>(row, row + dim));
      if (first) {
        ids.push_back(rank.ids[i]);
        continue;
      }
      for (int k = 0; k < dim; ++k) at->second[k] = at->second[k] + row[k];
    }
  }
  ASSERT_EQ(merge.ids(), absl::MakeConstSpan(ids));
  ASSERT_EQ(merge.rows().size(), ids.size() * dim);
  for (size_t i = 0; i < ids.size(); ++i) {
    ASSERT_EQ(Bits(merge.rows().subspan(i * dim, dim)), Bits(sums[ids[i]]))
        << "row " << i << " of id " << ids[i];
  }
}

TEST(RowMergeTest, AgreesWithAMapOverManyStepsOfOneObject) {
  constexpr int kDims[] = {1, 3, 16, 17, 33, 64};
  RowMerge merge;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    auto draw = [&, i = uint64_t{0}](uint64_t below) mutable {
      return StableHashCombine(StableHashCombine(7, seed), i++) % below;
    };
    const int dim = kDims[draw(6)];
    const uint64_t range = 1 + draw(400);
    std::vector<Rank> ranks;
    for (uint64_t r = draw(10); r > 0; --r) {
      const size_t size = draw(4) == 0 ? 0 : draw(range + 1);
      ranks.push_back(
          DrawRank(StableHashCombine(seed, r), size, range, dim));
    }
    merge.Build(dim, ViewOf(ranks));
    ExpectLikeMap(merge, ranks, dim);
    if (HasFatalFailure()) FAIL() << "seed " << seed;
  }
}

// Large enough that rows are prefetched from memory and most are shared.
TEST(RowMergeTest, AgreesWithAMapOverManyRows) {
  std::vector<Rank> ranks;
  for (uint64_t r = 0; r < 4; ++r) {
    ranks.push_back(DrawRank(r, 20'000, 30'000, 17));
  }
  RowMerge merge;
  merge.Build(17, ViewOf(ranks));
  ExpectLikeMap(merge, ranks, 17);
}

TEST(RowMergeTest, TheOrderOfTheRanksDecidesTheBits) {
  const std::vector<FeatureId> id = {5};
  const std::vector<float> large = {1e8f};
  const std::vector<float> one = {1};
  const std::vector<float> back = {-1e8f};
  RowMerge merge;
  merge.Build(1, {{id, large}, {id, one}, {id, back}});
  EXPECT_THAT(merge.rows(), ElementsAre(0));  // 1e8 + 1 is 1e8 in float32
  merge.Build(1, {{id, large}, {id, back}, {id, one}});
  EXPECT_THAT(merge.rows(), ElementsAre(1));
  merge.Build(1, {{id, one}, {id, large}, {id, back}});
  EXPECT_THAT(merge.rows(), ElementsAre(0));
}

TEST(RowMergeTest, OneRankKeepsItsIdsAndItsBits) {
  const std::vector<FeatureId> ids = {9, 0, UINT64_MAX};
  const std::vector<float> rows = {-0.0f,
                                   std::numeric_limits<float>::denorm_min(),
                                   3,
                                   std::nanf("77"),
                                   -std::numeric_limits<float>::infinity(),
                                   0};
  RowMerge merge;
  merge.Build(2, {{ids, rows}});
  EXPECT_THAT(merge.ids(), ElementsAre(9, 0, UINT64_MAX));
  EXPECT_EQ(Bits(merge.rows()), Bits(rows));
}

TEST(RowMergeTest, TheRowOfAnIdThatOneRankHasKeepsItsBits) {
  const std::vector<FeatureId> first = {1, 2};
  const std::vector<FeatureId> second = {3, 2, 4};
  const std::vector<float> first_rows = {-0.0f, -0.0f};
  const std::vector<float> second_rows = {-0.0f, -0.0f, 7};
  RowMerge merge;
  merge.Build(1, {{first, first_rows}, {second, second_rows}});
  EXPECT_THAT(merge.ids(), ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(Bits(merge.rows()), Bits({-0.0f, -0.0f, -0.0f, 7}));
}

TEST(RowMergeTest, RanksWithoutARowChangeNothing) {
  const Rank one = DrawRank(1, 50, 80, 3);
  const Rank other = DrawRank(2, 60, 80, 3);
  RowMerge with;
  with.Build(3, ViewOf({{}, one, {}, {}, other, {}}));
  RowMerge without;
  without.Build(3, ViewOf({one, other}));
  EXPECT_EQ(with.ids(), without.ids());
  EXPECT_EQ(Bits(with.rows()), Bits(without.rows()));
}

TEST(RowMergeTest, NoRankAndNoRowMakeAnEmptyMerge) {
  const Rank full = DrawRank(1, 50, 80, 3);
  RowMerge merge;
  merge.Build(3, {});
  EXPECT_THAT(merge.ids(), IsEmpty());
  merge.Build(3, ViewOf({full}));
  merge.Build(3, ViewOf({{}, {}}));
  EXPECT_THAT(merge.ids(), IsEmpty());
  EXPECT_THAT(merge.rows(), IsEmpty());
}

TEST(RowMergeTest, ACallerMayChangeTheRowsAndMergeAgain) {
  const std::vector<Rank> ranks = {DrawRank(1, 50, 80, 3),
                                   DrawRank(2, 60, 80, 3)};
  RowMerge merge;
  merge.Build(3, ViewOf(ranks));
  for (float& value : merge.rows()) value /= 110;
  merge.Build(3, ViewOf(ranks));
  ExpectLikeMap(merge, ranks, 3);
}

}  // namespace
}  // namespace shoal
