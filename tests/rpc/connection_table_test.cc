#include "rpc/server/connection_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace shoal {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr absl::Time kStart = absl::UnixEpoch();

ConnectionLimits Limits() {
  ConnectionLimits limits;
  limits.max_connections = 6;
  limits.max_unknown = 4;
  limits.max_unknown_of_host = 2;
  limits.max_refused_calls = 3;
  limits.token_deadline = absl::Seconds(10);
  return limits;
}

TEST(ConnectionTableTest, TheOldestWithoutATokenMakesRoomOnItsHost) {
  ConnectionTable table(Limits());
  EXPECT_THAT(table.Add(1, "a", kStart), IsEmpty());
  EXPECT_THAT(table.Add(2, "a", kStart), IsEmpty());
  EXPECT_THAT(table.Add(3, "b", kStart), IsEmpty());
  EXPECT_THAT(table.Add(4, "a", kStart), ElementsAre(1));
  // A connection with the token is not in the way of others.
  table.OnToken(2);
  EXPECT_THAT(table.Add(5, "a", kStart), IsEmpty());
  EXPECT_THAT(table.Add(6, "a", kStart), ElementsAre(4));
}

TEST(ConnectionTableTest, TheOldestWithoutATokenMakesRoomInAll) {
  ConnectionTable table(Limits());
  for (const uint64_t id : {1, 2, 3, 4}) {
    EXPECT_THAT(table.Add(id, std::string(1, 'a' + id), kStart), IsEmpty());
  }
  EXPECT_THAT(table.Add(5, "z", kStart), ElementsAre(1));
  EXPECT_EQ(table.unknown(), 4);
  // It is there until its end is seen.
  EXPECT_EQ(table.size(), 5);
  table.Remove(1);
  EXPECT_EQ(table.size(), 4);
}

TEST(ConnectionTableTest, WhereAllHaveTheTokenANewOneIsRefused) {
  ConnectionTable table(Limits());
  for (uint64_t id = 1; id <= 6; ++id) {
    EXPECT_THAT(table.Add(id, "a", kStart), IsEmpty());
    table.OnToken(id);
  }
  EXPECT_THAT(table.Add(7, "a", kStart), ElementsAre(7));
  table.Remove(7);
  table.Remove(3);
  EXPECT_THAT(table.Add(8, "a", kStart), IsEmpty());
  EXPECT_THAT(table.Add(9, "a", kStart), ElementsAre(8));
}

TEST(ConnectionTableTest, WithoutATokenTheTimeIsBounded) {
  ConnectionTable table(Limits());
  EXPECT_EQ(table.NextExpiry(), absl::InfiniteFuture());
  table.Add(1, "a", kStart);
  table.Add(2, "a", kStart + absl::Seconds(1));
  table.OnToken(1);
  EXPECT_EQ(table.NextExpiry(), kStart + absl::Seconds(11));
  EXPECT_THAT(table.Expire(kStart + absl::Seconds(10)), IsEmpty());
  EXPECT_THAT(table.Expire(kStart + absl::Seconds(11)), ElementsAre(2));
  EXPECT_EQ(table.NextExpiry(), absl::InfiniteFuture());
  EXPECT_THAT(table.Expire(kStart + absl::Hours(1)), IsEmpty());
}

TEST(ConnectionTableTest, RefusedCallsAreBoundedUntilTheTokenComes) {
  ConnectionTable table(Limits());
  table.Add(1, "a", kStart);
  EXPECT_FALSE(table.OnRefused(1));
  EXPECT_FALSE(table.OnRefused(1));
  EXPECT_TRUE(table.OnRefused(1));
  EXPECT_FALSE(table.OnRefused(1)) << "it is being closed";
  table.Add(2, "a", kStart);
  table.OnToken(2);
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(table.OnRefused(2));
  EXPECT_FALSE(table.OnRefused(77));
}

TEST(ConnectionTableTest, WhereDescriptorsRunOutTheOldestGoes) {
  ConnectionTable table(Limits());
  EXPECT_THAT(table.CloseOldest(), IsEmpty());
  table.Add(1, "a", kStart);
  table.Add(2, "b", kStart);
  table.Add(3, "c", kStart);
  table.OnToken(1);
  EXPECT_THAT(table.CloseOldest(), ElementsAre(2));
  EXPECT_THAT(table.CloseOldest(), ElementsAre(3));
  EXPECT_THAT(table.CloseOldest(), IsEmpty());
}

}  // namespace
}  // namespace shoal
