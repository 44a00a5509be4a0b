#include "core/gradient_sum.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/stable_hash.h"
#include "core/canary.h"

namespace shoal {
namespace {

// Numbers of both signs and sizes from 2^-12 to 2^12, so that every order of
// additions has bits of its own.
std::vector<float> Draw(uint64_t seed, size_t size) {
  std::vector<float> values;
  for (size_t i = 0; i < size; ++i) {
    const uint64_t hash = StableHashCombine(seed, i);
    const int exponent = static_cast<int>(hash >> 8 & 0xff) % 25 - 12;
    const float value = std::ldexp(1 + 0x1p-32f * (hash >> 32), exponent);
    values.push_back(hash % 2 == 0 ? value : -value);
  }
  return values;
}

std::vector<uint32_t> Bits(absl::Span<const float> values) {
  std::vector<uint32_t> bits;
  for (const float value : values) {
    bits.push_back(std::bit_cast<uint32_t>(value));
  }
  return bits;
}

std::vector<float> SumOf(const std::vector<std::vector<float>>& ranks) {
  const std::vector<absl::Span<const float>> spans(ranks.begin(), ranks.end());
  std::vector<float> sum(ranks[0].size(), 42);
  SumInRankOrder(spans, absl::MakeSpan(sum));
  return sum;
}

TEST(SumInRankOrderTest, AddsFromTheFirstRankOn) {
  for (const size_t size : {0, 1, 2047, 2048, 2049, 10'000}) {
    std::vector<std::vector<float>> ranks;
    for (uint64_t rank = 0; rank < 5; ++rank) {
      ranks.push_back(Draw(rank, size));
      std::vector<float> serial = ranks[0];
      for (size_t r = 1; r < ranks.size(); ++r) {
        for (size_t i = 0; i < size; ++i) serial[i] += ranks[r][i];
      }
      EXPECT_EQ(Bits(SumOf(ranks)), Bits(serial));
    }
  }
}

TEST(SumInRankOrderTest, HasOtherBitsInAnotherOrder) {
  const auto a = Draw(1, 1000), b = Draw(2, 1000), c = Draw(3, 1000);
  EXPECT_NE(Bits(SumOf({a, b, c})), Bits(SumOf({c, b, a})));
}

TEST(SumInRankOrderTest, KeepsTheBitsOfOneRank) {
  const std::vector<float> rank = {-0.0f, 0.0f, 1e-45f, -3};
  EXPECT_EQ(Bits(SumOf({rank})), Bits(rank));
}

TEST(SumInRankOrderTest, TheFirstRankMayBeTheSum) {
  const auto a = Draw(1, 5000), b = Draw(2, 5000);
  std::vector<float> sum = a;
  SumInRankOrder({sum, b}, absl::MakeSpan(sum));
  EXPECT_EQ(Bits(sum), Bits(SumOf({a, b})));
}

TEST(SumInRankOrderTest, ARankThatAddsNothingChangesNoBit) {
  std::vector<float> rank = Draw(1, 100);
  rank.insert(rank.end(), {-0.0f, 0.0f, -1e-45f, 1e-45f,
                           std::numeric_limits<float>::infinity()});
  const std::vector<float> none(rank.size(), kAddsNothing);
  EXPECT_EQ(Bits(SumOf({none, rank, none})), Bits(rank));
}

TEST(DivideByExamplesTest, Divides) {
  std::vector<float> values = Draw(1, 1000);
  const std::vector<float> before = values;
  DivideByExamples(49, absl::MakeSpan(values));
  std::vector<float> by_factor;
  for (size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(std::bit_cast<uint32_t>(values[i]),
              std::bit_cast<uint32_t>(before[i] / 49.0f));
    by_factor.push_back(before[i] * (1 / 49.0f));
  }
  EXPECT_NE(Bits(values), Bits(by_factor));
}

TEST(DivideByExamplesTest, BeforeTheSumHasOtherBits) {
  auto a = Draw(1, 1000), b = Draw(2, 1000);
  std::vector<float> after = SumOf({a, b});
  DivideByExamples(3, absl::MakeSpan(after));
  DivideByExamples(3, absl::MakeSpan(a));
  DivideByExamples(3, absl::MakeSpan(b));
  EXPECT_NE(Bits(after), Bits(SumOf({a, b})));
}

TEST(DividesTest, NeitherCanariesNorAModelOfSums) {
  ModelSpec model;
  model.tables.resize(1);
  AddCanary(&model);
  EXPECT_TRUE(DividesDense(model));
  EXPECT_TRUE(DividesRows(model, 0));
  EXPECT_FALSE(DividesRows(model, 1));
  model.divides_gradient = false;
  EXPECT_FALSE(DividesDense(model));
  EXPECT_FALSE(DividesRows(model, 0));
}

}  // namespace
}  // namespace shoal
