#include "job/rank_ring.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/thread_executor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rpc/port_probe.h"
#include "tests/harness/notification.h"

namespace shoal {
namespace {

using ::testing::HasSubstr;

class RankRingTest : public testing::Test {
 protected:
  static std::unique_ptr<RankRing> Open(const std::string& job = "a") {
    TcpRingOptions options;
    options.job = job;
    options.connect_timeout = absl::Seconds(30);
    return RankRing::Open("127.0.0.1", options).value();
  }
  static Life LifeOf(int worker) {
    return Life{41, static_cast<uint32_t>(worker + 1)};
  }
  // Worker w has life w + 1.
  static ClusterView ViewOf(
      uint64_t generation,
      const std::vector<std::pair<int, const RankRing*>>& ranks) {
    ClusterView view;
    view.generation = generation;
    for (const auto& [worker, ring] : ranks) {
      view.ranks.push_back({ring->address(), LifeOf(worker)});
    }
    return view;
  }
  // Sums 1, 10, 100 … over the ranks.
  static void ExpectSum(const std::vector<Collective*>& ranks, float sum) {
    std::vector<std::vector<float>> values;
    float own = 1;
    for (size_t r = 0; r < ranks.size(); ++r) {
      values.push_back({own});
      own *= 10;
    }
    std::vector<Notification> ended(ranks.size());
    for (size_t r = 0; r < ranks.size(); ++r) {
      EXPECT_EQ(ranks[r]->rank(), static_cast<int>(r));
      EXPECT_EQ(ranks[r]->size(), static_cast<int>(ranks.size()));
      ranks[r]->AllReduce({}, absl::MakeSpan(values[r]), absl::Seconds(30),
                          [&ended, r](absl::StatusOr<CollectiveReply> reply) {
                            EXPECT_TRUE(reply.ok()) << reply.status();
                            ended[r].Notify();
                          });
    }
    for (const Notification& one : ended) ASSERT_TRUE(one.Wait());
    for (const auto& value : values) EXPECT_EQ(value[0], sum);
  }

  RealClock clock_;
  ThreadExecutor executor_{{"test", 1}, &clock_};
};

TEST_F(RankRingTest, RanksFindEachOtherByTheView) {
  const auto a = Open();
  const auto b = Open();
  const ClusterView view = ViewOf(1, {{0, a.get()}, {1, b.get()}});
  const auto first = a->Join(view, LifeOf(0), &executor_);
  const auto second = b->Join(view, LifeOf(1), &executor_);
  ASSERT_TRUE(first.ok()) << first.status();
  ASSERT_TRUE(second.ok()) << second.status();
  ExpectSum({first->get(), second->get()}, 11);
}

// The ranks of the second generation are workers 0 and 2.
TEST_F(RankRingTest, RanksOfALaterGenerationHaveOtherNumbersAndTheirNames) {
  const auto a = Open();
  const auto b = Open();
  const auto c = Open();
  ClusterView view = ViewOf(1, {{0, a.get()}, {1, b.get()}, {2, c.get()}});
  auto first = a->Join(view, LifeOf(0), &executor_);
  auto third = c->Join(view, LifeOf(2), &executor_);
  ASSERT_TRUE(first.ok() && third.ok());
  EXPECT_EQ(c->NameOf(2), "worker 2");
  const std::string before = c->address();
  first->reset();
  third->reset();
  ASSERT_TRUE(a->NextAddress().ok());
  ASSERT_TRUE(c->NextAddress().ok());
  EXPECT_NE(c->address(), before);
  view = ViewOf(2, {{0, a.get()}, {2, c.get()}});
  first = a->Join(view, LifeOf(0), &executor_);
  third = c->Join(view, LifeOf(2), &executor_);
  ASSERT_TRUE(first.ok()) << first.status();
  ASSERT_TRUE(third.ok()) << third.status();
  EXPECT_EQ(a->NameOf(1), "worker 2");
  EXPECT_EQ(c->NameOf(0), "worker 0");
  ExpectSum({first->get(), third->get()}, 11);
}

// A rank that is late meets the port of another generation.
TEST_F(RankRingTest, RanksOfTwoGenerationsAreNoRing) {
  TcpRingOptions options;
  options.connect_timeout = absl::Milliseconds(300);
  const auto a = RankRing::Open("127.0.0.1", options).value();
  const auto b = RankRing::Open("127.0.0.1", options).value();
  const auto first = a->Join(ViewOf(1, {{0, a.get()}, {1, b.get()}}),
                             LifeOf(0), &executor_);
  const auto second = b->Join(ViewOf(2, {{0, a.get()}, {1, b.get()}}),
                              LifeOf(1), &executor_);
  ASSERT_TRUE(first.ok() && second.ok());
  std::vector<float> value = {1};
  Notification ended;
  absl::Status status;
  (*first)->AllReduce({}, absl::MakeSpan(value), absl::Seconds(30),
                      [&](absl::StatusOr<CollectiveReply> reply) {
                        status = reply.status();
                        ended.Notify();
                      });
  ASSERT_TRUE(ended.Wait());
  EXPECT_TRUE(absl::IsAborted(status)) << status;
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("it is of generation 1 of start 29 of the job, here is "
                        "generation 2 of start 29"));
}

TEST_F(RankRingTest, TheFirstPortListensAsLongAsTheProcessLives) {
  auto only = Open();
  const std::string first = only->address();
  auto ring = only->Join(ViewOf(1, {{0, only.get()}}), LifeOf(0), &executor_);
  ASSERT_TRUE(ring.ok());
  ring->reset();
  EXPECT_EQ(ProbePort(first, absl::Seconds(1)), PortState::kOpen)
      << "between two rings";
  const std::string second = only->NextAddress().value();
  ASSERT_TRUE(only->NextAddress().ok());
  EXPECT_EQ(ProbePort(second, absl::Seconds(1)), PortState::kRefused);
  EXPECT_EQ(ProbePort(first, absl::Seconds(1)), PortState::kOpen);
  only = nullptr;
  EXPECT_EQ(ProbePort(first, absl::Seconds(1)), PortState::kRefused);
}

TEST_F(RankRingTest, APortHasOneRing) {
  const auto only = Open();
  const ClusterView view = ViewOf(1, {{0, only.get()}});
  ASSERT_TRUE(only->Join(view, LifeOf(0), &executor_).ok());
  const auto again = only->Join(view, LifeOf(0), &executor_);
  EXPECT_TRUE(absl::IsFailedPrecondition(again.status()));
  EXPECT_THAT(std::string(again.status().message()),
              HasSubstr("that port has a ring already"));
}

TEST_F(RankRingTest, AViewOfOtherRanksIsRefused) {
  const auto a = Open();
  const auto b = Open();
  const auto other = Open();
  EXPECT_THAT(std::string(b->Join(ViewOf(1, {{0, a.get()}}), LifeOf(1),
                                  &executor_)
                              .status()
                              .message()),
              HasSubstr("the life 29.2 of this process is none of the 1 "));
  const auto status = b->Join(ViewOf(1, {{0, a.get()}, {1, other.get()}}),
                              LifeOf(1), &executor_)
                          .status();
  EXPECT_TRUE(absl::IsFailedPrecondition(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr(b->address()));
}

}  // namespace
}  // namespace shoal
