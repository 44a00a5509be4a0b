#include "ps/shard/repeat_finder.h"

#include <random>
#include <unordered_set>
#include <vector>

#include "gtest/gtest.h"

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

}  // namespace
}  // namespace shoal
