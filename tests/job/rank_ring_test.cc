#include "job/rank_ring.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/thread_executor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/harness/notification.h"

namespace shoal {
namespace {

using ::testing::HasSubstr;

class RankRingTest : public testing::Test {
 protected:
  RankRing Open(int rank, const std::string& job = "a") {
    TcpRingOptions options;
    options.rank = rank;
    options.job = job;
    return RankRing::Open("127.0.0.1", options).value();
  }
  static ClusterView ViewOf(const std::vector<const RankRing*>& ranks) {
    ClusterView view;
    for (const RankRing* rank : ranks) {
      view.ranks.push_back({rank->address(), Life{41, 1}});
    }
    return view;
  }

  RealClock clock_;
  ThreadExecutor executor_{{"test", 1}, &clock_};
};

TEST_F(RankRingTest, RanksFindEachOtherByTheView) {
  RankRing a = Open(0);
  RankRing b = Open(1);
  const ClusterView view = ViewOf({&a, &b});
  const auto first = a.Join(view, &executor_);
  const auto second = b.Join(view, &executor_);
  ASSERT_TRUE(first.ok()) << first.status();
  ASSERT_TRUE(second.ok()) << second.status();
  std::vector<float> values[] = {{1, 2}, {10, 20}};
  Notification ended[2];
  for (int rank = 0; rank < 2; ++rank) {
    Collective* const ring = (rank == 0 ? *first : *second).get();
    EXPECT_EQ(ring->rank(), rank);
    EXPECT_EQ(ring->size(), 2);
    ring->AllReduce({}, absl::MakeSpan(values[rank]), absl::Seconds(30),
                    [&ended, rank](absl::StatusOr<CollectiveReply> reply) {
                      EXPECT_TRUE(reply.ok()) << reply.status();
                      ended[rank].Notify();
                    });
  }
  for (const Notification& one : ended) ASSERT_TRUE(one.Wait());
  EXPECT_EQ(values[0], (std::vector<float>{11, 22}));
  EXPECT_EQ(values[1], values[0]);
}

TEST_F(RankRingTest, ARankJoinsOneRing) {
  RankRing only = Open(0);
  const ClusterView view = ViewOf({&only});
  ASSERT_TRUE(only.Join(view, &executor_).ok());
  const auto again = only.Join(view, &executor_);
  EXPECT_TRUE(absl::IsFailedPrecondition(again.status()));
  EXPECT_THAT(std::string(again.status().message()),
              HasSubstr("rank 0 has been in a ring before"));
}

TEST_F(RankRingTest, AViewOfOtherRanksIsRefused) {
  RankRing a = Open(0);
  RankRing b = Open(1);
  RankRing other = Open(1);
  EXPECT_THAT(
      std::string(b.Join(ViewOf({&a}), &executor_).status().message()),
      HasSubstr("the job's ring has 1 ranks, and this is rank 1"));
  EXPECT_TRUE(absl::IsFailedPrecondition(
      b.Join(ViewOf({&a, &other}), &executor_).status()));
}

}  // namespace
}  // namespace shoal
