#include "base/philox.h"

#include <set>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

using ::testing::ElementsAre;

// kat_vectors of Random123, philox4x32 with 10 rounds.
TEST(Philox, KnownAnswers) {
  EXPECT_THAT(Philox(0)(0, 0),
              ElementsAre(0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u));
  constexpr uint64_t kOnes = ~uint64_t{0};
  EXPECT_THAT(Philox(kOnes)(kOnes, kOnes),
              ElementsAre(0x408f276du, 0x41c83b0eu, 0xa20bc7c6u, 0x6d5451fdu));
  EXPECT_THAT(
      Philox(0x299f31d0a4093822)(0x0370734413198a2e, 0x85a308d3243f6a88),
      ElementsAre(0xd16cfe09u, 0x94fdccebu, 0x5001e420u, 0x24126ea1u));
}

TEST(Philox, EveryPartOfKeyAndCounterMatters) {
  std::set<Philox::Block> blocks;
  for (int bit = 0; bit < 64; ++bit) {
    const uint64_t x = uint64_t{1} << bit;
    blocks.insert(Philox(x)(0, 0));
    blocks.insert(Philox(0)(x, 0));
    blocks.insert(Philox(0)(0, x));
  }
  EXPECT_EQ(blocks.size(), 3u * 64);
}

TEST(UniformFloat, LiesInTheHalfOpenUnitInterval) {
  EXPECT_EQ(UniformFloat(0), 0.0f);
  EXPECT_EQ(UniformFloat(0x80000000u), 0.5f);
  EXPECT_LT(UniformFloat(0xffffffffu), 1.0f);
  double sum = 0;
  for (uint64_t i = 0; i < 10'000; ++i) {
    for (const uint32_t word : Philox(7)(0, i)) sum += UniformFloat(word);
  }
  EXPECT_NEAR(sum / 40'000, 0.5, 0.01);  // standard error .0015
}

}  // namespace
}  // namespace shoal
