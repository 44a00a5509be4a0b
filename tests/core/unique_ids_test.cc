#include "core/unique_ids.h"

#include <unordered_map>
#include <vector>

#include "base/stable_hash.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

// The obvious way to do it.
void ExpectLikeMap(const UniqueIds& unique, const std::vector<FeatureId>& ids) {
  std::unordered_map<FeatureId, uint32_t> first;
  std::vector<FeatureId> distinct;
  ASSERT_EQ(unique.inverse().size(), ids.size());
  for (size_t i = 0; i < ids.size(); ++i) {
    const auto [at, fresh] = first.emplace(ids[i], distinct.size());
    if (fresh) distinct.push_back(ids[i]);
    ASSERT_EQ(unique.inverse()[i], at->second) << "occurrence " << i;
  }
  EXPECT_EQ(unique.distinct(), distinct);
}

TEST(UniqueIdsTest, AgreesWithAMapOverManyBatchesOfOneObject) {
  UniqueIds unique;
  for (uint64_t batch = 0; batch < 50; ++batch) {
    const size_t size = StableHashCombine(1, batch) % 3000;
    const uint64_t range = 1 + StableHashCombine(2, batch) % 2000;
    std::vector<FeatureId> ids(size);
    for (size_t i = 0; i < size; ++i) {
      ids[i] = StableHashCombine(batch, i) % range;
    }
    unique.Build(ids);
    ExpectLikeMap(unique, ids);
  }
}

TEST(UniqueIdsTest, IdsThatShareLowBitsDoNotMeet) {
  std::vector<FeatureId> ids;
  for (uint64_t i = 0; i < 1000; ++i) ids.push_back(i << 40);
  UniqueIds unique;
  unique.Build(ids);
  ExpectLikeMap(unique, ids);
}

TEST(UniqueIdsTest, ExtremeIdsAndNoIds) {
  UniqueIds unique;
  unique.Build({});
  EXPECT_TRUE(unique.distinct().empty());
  const std::vector<FeatureId> ids = {0, UINT64_MAX, 0, UINT64_MAX, 1};
  unique.Build(ids);
  ExpectLikeMap(unique, ids);
}

}  // namespace
}  // namespace shoal
