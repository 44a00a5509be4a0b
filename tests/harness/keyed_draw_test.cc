#include "tests/harness/keyed_draw.h"

#include <set>
#include <string>

#include "gtest/gtest.h"

namespace shoal {
namespace {

TEST(KeyedDraw, IsAFunctionOfSeedAndKeyAlone) {
  const KeyedDraw draw(7);
  const uint64_t word = draw.Word("push", std::string("worker 0"), 3);
  draw.Word("others", 1);
  EXPECT_EQ(draw.Word("push", "worker 0", 3), word);
  EXPECT_EQ(KeyedDraw(7).Of("push", "worker 0").Word(3), word);
}

TEST(KeyedDraw, EveryPartAndItsPlaceCount) {
  const KeyedDraw draw(7);
  const std::set<uint64_t> words = {
      draw.Word("a", "b"), draw.Word("b", "a"), draw.Word("a"),
      draw.Word("a", 0),   draw.Word("a", 1),   KeyedDraw(8).Word("a"),
  };
  EXPECT_EQ(words.size(), 6u);
}

TEST(KeyedDraw, IsUniform) {
  const KeyedDraw draw(1);
  int chances = 0;
  double sum = 0;
  for (int i = 0; i < 4000; ++i) {
    chances += draw.Chance(0.25, "chance", i) ? 1 : 0;
    sum += absl::ToDoubleSeconds(draw.Span(absl::Seconds(2), "span", i));
  }
  EXPECT_NEAR(chances, 1000, 120);
  EXPECT_NEAR(sum / 4000, 1, 0.05);
}

}  // namespace
}  // namespace shoal
