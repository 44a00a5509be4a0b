#include "ps/table/initial_value.h"

#include <cmath>
#include <cstdint>
#include <vector>

#include "base/philox.h"
#include "gtest/gtest.h"
#include "ps/table/element_digest.h"

namespace shoal {
namespace {

float ValueOf(const InitializerSpec& spec, uint64_t key, uint64_t element) {
  float value = NAN;
  FillInitialValues(spec, key, element, absl::MakeSpan(&value, 1));
  return value;
}

// Golden values from a separate program in Python, after the header's formula.
// They are for ever: a model trained half way depends on them.
TEST(InitialValue, NeverChanges) {
  const uint64_t key = InitialValueKey(1, "fm_v");
  EXPECT_EQ(key, 0xf9dd30fd7844ffc4u);
  const InitializerSpec uniform = {InitializerKind::kUniform, 0.5f};
  EXPECT_EQ(ValueOf(uniform, key, 0), -0x1.2834b4p-2f);
  EXPECT_EQ(ValueOf(uniform, key, 1), 0x1.5e2078p-2f);
  EXPECT_EQ(ValueOf(uniform, key, 2), -0x1.30c648p-3f);
  EXPECT_EQ(ValueOf(uniform, key, 3), -0x1.4506d8p-3f);
  EXPECT_EQ(ValueOf(uniform, key, 4), -0x1.6716ap-5f);
  EXPECT_EQ(ValueOf(uniform, key, 1000003), 0x1.c92cep-5f);
  const InitializerSpec normal = {InitializerKind::kTruncatedNormal, 0.01f};
  EXPECT_EQ(ValueOf(normal, key, 0), -0x1.f5b6d6p-8f);
  EXPECT_EQ(ValueOf(normal, key, 1), -0x1.861c84p-8f);
  EXPECT_EQ(ValueOf(normal, key, 2), -0x1.cba214p-10f);
  EXPECT_EQ(ValueOf(normal, key, 3), -0x1.bdadbcp-7f);
  EXPECT_EQ(ValueOf(normal, key, 4), -0x1.531fa8p-7f);
  EXPECT_EQ(ValueOf(normal, key, 1000003), 0x1.91009ap-8f);
}

// The header's formula, word by word: what decides without an exponential must
// decide alike.
TEST(InitialValue, TruncatedNormalIsTheFormulas) {
  const uint64_t key = InitialValueKey(3, "fm_v");
  const Philox philox(key);
  std::vector<float> values(200001);
  constexpr uint64_t kFirst = 12345677;
  FillInitialValues({InitializerKind::kTruncatedNormal, 1}, key, kFirst,
                    absl::MakeSpan(values));
  for (size_t i = 0; i < values.size(); ++i) {
    const uint64_t e = kFirst + i;
    for (uint64_t attempt = 0;; ++attempt) {
      const Philox::Block words = philox(attempt, e / 2);
      const double z = 4 * UniformFloat(words[2 * (e % 2)]) - 2;
      const double b = words[2 * (e % 2) + 1];
      if (b + 0.5 >= 0x1p32 * std::exp(-z * z / 2)) continue;
      ASSERT_EQ(values[i], static_cast<float>(z)) << e;
      break;
    }
  }
}

TEST(InitialValue, DiffersBySeedAndByVariable) {
  EXPECT_NE(InitialValueKey(1, "fm_v"), InitialValueKey(2, "fm_v"));
  EXPECT_NE(InitialValueKey(1, "fm_v"), InitialValueKey(1, "fm_w"));
}

TEST(InitialValue, DoesNotDependOnWhereTheRunBegins) {
  for (const InitializerKind kind :
       {InitializerKind::kUniform, InitializerKind::kTruncatedNormal}) {
    const InitializerSpec spec = {kind, 1};
    std::vector<float> whole(100);
    FillInitialValues(spec, 9, 0, absl::MakeSpan(whole));
    for (const size_t first : {1, 2, 3, 50, 99}) {
      std::vector<float> part(100 - first);
      FillInitialValues(spec, 9, first, absl::MakeSpan(part));
      for (size_t i = 0; i < part.size(); ++i) {
        ASSERT_EQ(part[i], whole[first + i]);
      }
    }
  }
}

struct Moments {
  double mean = 0, variance = 0, min = 0, max = 0;
};

Moments MomentsOf(const InitializerSpec& spec, int n) {
  std::vector<float> values(n);
  FillInitialValues(spec, 3, 0, absl::MakeSpan(values));
  Moments m;
  for (const float v : values) {
    m.mean += v / n;
    m.min = std::min(m.min, double{v});
    m.max = std::max(m.max, double{v});
  }
  for (const float v : values) m.variance += (v - m.mean) * (v - m.mean) / n;
  return m;
}

// A normal cut at two deviations has variance
// 1 - 4 phi(2) / (2 Phi(2) - 1) = 0.7737413, the square of the 0.8796256 by
// which initialisers divide. Tolerances: five standard errors of 200,000.
TEST(InitialValue, TruncatedNormalHasItsMoments) {
  const Moments m = MomentsOf({InitializerKind::kTruncatedNormal, 3}, 200000);
  EXPECT_NEAR(m.mean / 3, 0, 0.01);
  EXPECT_NEAR(m.variance / 9, 0.7737413, 0.01);
  EXPECT_GE(m.min, -6);
  EXPECT_LE(m.max, 6);
  EXPECT_GT(m.max, 5.9);
  EXPECT_LT(m.min, -5.9);
}

TEST(InitialValue, UniformHasItsMoments) {
  const Moments m = MomentsOf({InitializerKind::kUniform, 2}, 200000);
  EXPECT_NEAR(m.mean, 0, 0.013);
  EXPECT_NEAR(m.variance, 4.0 / 3, 0.014);
  EXPECT_GE(m.min, -2);
  EXPECT_LT(m.max, 2);
}

TEST(InitialValue, ZerosAreZero) {
  std::vector<float> values(5, 1);
  FillInitialValues({InitializerKind::kZeros, 7}, 3, 0, absl::MakeSpan(values));
  EXPECT_EQ(values, std::vector<float>(5, 0));
}

// Golden too: digests are compared between runs of different builds.
TEST(ElementDigest, NeverChangesAndAddsUp) {
  const uint64_t name = StableHash("fm_v");
  EXPECT_EQ(ElementDigest(name, 7, {1.0f, -0.5f}), 0xbba520d833da9f79u);
  EXPECT_EQ(ElementDigest(name, 7, {1.0f}) + ElementDigest(name, 8, {-0.5f}),
            0xbba520d833da9f79u);
  EXPECT_NE(ElementDigest(name, 7, {-0.5f, 1.0f}), 0xbba520d833da9f79u);
}

}  // namespace
}  // namespace shoal
