#include "ps/shard/repeat_finder.h"

#include <random>
#include <unordered_set>
#include <vector>

#include "gtest/gtest.h"
#include "tests/ps/crafted_ids.h"

namespace shoal {
namespace {

size_t Expected(const std::vector<FeatureId>& ids) {
  std::unordered_set<FeatureId> seen;
  for (size_t i = 0; i < ids.size(); ++i) {
    if (!seen.insert(ids[i]).second) return i;
  }
  return ids.size();
}

TEST(RepeatFinder, FindsTheFirstRepeat) {
  RepeatFinder finder;
  EXPECT_EQ(finder.FirstRepeat({}), 0);
  EXPECT_EQ(finder.FirstRepeat({0}), 1);
  EXPECT_EQ(finder.FirstRepeat({0, 0}), 1);
  EXPECT_EQ(finder.FirstRepeat({1, 2, 3}), 3);
  EXPECT_EQ(finder.FirstRepeat({3, 2, 1, 0}), 4);
  EXPECT_EQ(finder.FirstRepeat({5, 2, 7, 2, 5}), 3);
}

// One finder over many requests: what an earlier one left must not matter.
TEST(RepeatFinder, AgreesWithASetOverManyRequests) {
  std::mt19937_64 random(11);
  RepeatFinder finder;
  for (int request = 0; request < 2000; ++request) {
    std::vector<FeatureId> ids(random() % 60);
    const uint64_t range = 1 + random() % 2000;
    for (FeatureId& id : ids) id = random() % range;
    ASSERT_EQ(finder.FirstRepeat(ids), Expected(ids)) << "request " << request;
  }
}

// 2^18 cells: those of random ids pass over 0.2 cells each, those of ids whose
// public hashes end alike would pass over half of the others.
TEST(RepeatFinder, CraftedIdsTakeAsLongAsRandomOnes) {
  for (const int low : {18, 40}) {
    const std::vector<FeatureId> ids = CraftedIds(5, low, 80'000);
    RepeatFinder finder;
    EXPECT_EQ(finder.FirstRepeat(ids), ids.size());
    EXPECT_LE(finder.passed_over(), 2 * ids.size());
  }
}

}  // namespace
}  // namespace shoal
