#include "core/ps_members.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

using ::testing::ElementsAre;

std::vector<int> Shards(const PsMembers& ps) {
  std::vector<int> shards;
  for (int member = 0; member < ps.count; ++member) {
    shards.push_back(ps.ShardOf(member));
  }
  return shards;
}

std::vector<int> Firsts(const PsMembers& ps) {
  std::vector<int> firsts;
  for (int member = 0; member < ps.count; ++member) {
    if (ps.IsFirst(member)) firsts.push_back(member);
  }
  return firsts;
}

TEST(PsMembersTest, WithoutReplicasMemberAndShardAreOneNumber) {
  constexpr PsMembers kPs{.count = 3};
  EXPECT_EQ(kPs.num_shards(), 3);
  EXPECT_THAT(Shards(kPs), ElementsAre(0, 1, 2));
  EXPECT_THAT(Firsts(kPs), ElementsAre(0, 1, 2));
  for (const int rank : {0, 1, 7}) EXPECT_EQ(kPs.MemberFor(1, rank), 1);
}

TEST(PsMembersTest, ReplicasOfEverythingShareOneShard) {
  constexpr PsMembers kPs{.count = 3, .replicated = 0};
  EXPECT_EQ(kPs.num_shards(), 1);
  EXPECT_THAT(Shards(kPs), ElementsAre(0, 0, 0));
  EXPECT_THAT(Firsts(kPs), ElementsAre(0));
  EXPECT_EQ(kPs.MemberFor(0, 2), 2);
}

TEST(PsMembersTest, ReplicasOfTheDenseVariablesComeAfterTheServersOfRows) {
  constexpr PsMembers kPs{.count = 4, .replicated = 2};
  EXPECT_EQ(kPs.num_shards(), 3);
  EXPECT_THAT(Shards(kPs), ElementsAre(0, 1, 2, 2));
  EXPECT_THAT(Firsts(kPs), ElementsAre(0, 1, 2));
  EXPECT_EQ(kPs.MemberFor(0, 1), 0);
  EXPECT_EQ(kPs.MemberFor(2, 0), 2);
  EXPECT_EQ(kPs.MemberFor(2, 1), 3);
  EXPECT_TRUE(kPs.Serves(1));
  EXPECT_FALSE(kPs.Serves(2)) << "there is no replica of rank 2";
  EXPECT_TRUE(PsMembers{.count = 1}.Serves(7));
}

TEST(PsMembersTest, EveryShardHasAMember) {
  EXPECT_TRUE((PsMembers{.count = 1}).valid());
  EXPECT_TRUE((PsMembers{.count = 2, .replicated = 1}).valid());
  EXPECT_FALSE((PsMembers{.count = 0}).valid());
  EXPECT_FALSE((PsMembers{.count = 2, .replicated = 2}).valid());
  EXPECT_FALSE((PsMembers{.count = 2, .replicated = -2}).valid());
}

}  // namespace
}  // namespace shoal
