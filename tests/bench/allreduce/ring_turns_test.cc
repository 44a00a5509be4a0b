#include "bench/allreduce/ring_turns.h"

#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/thread_executor.h"
#include "worker/collective/local_collective.h"

namespace shoal {
namespace {

using ::testing::HasSubstr;

// Ranks of one process, each with a thread for its completions.
class RingTurnsTest : public ::testing::Test {
 protected:
  void Make(int size) {
    std::vector<Executor*> executors;
    for (int r = 0; r < size; ++r) {
      executors_.push_back(std::make_unique<ThreadExecutor>(
          ThreadExecutorOptions{.name = "completions"}, &clock_));
      executors.push_back(executors_.back().get());
    }
    ranks_ = MakeLocalCollectives({}, executors);
  }
  ~RingTurnsTest() override { ranks_.clear(); }

  RingTurnsOptions Options() const {
    RingTurnsOptions options;
    options.clock = &clock_;
    return options;
  }

  const RealClock clock_;
  std::vector<std::unique_ptr<ThreadExecutor>> executors_;
  std::vector<std::unique_ptr<Collective>> ranks_;
};

TurnPlan PlanOf(std::vector<int> sizes) {
  TurnPlanOptions options;
  options.sizes = std::move(sizes);
  options.repeats = 2;
  options.turn_time = absl::Microseconds(100);
  return TurnPlan(options);
}

// Passes calls on, and changes one bit of what AllReduce gives.
class WrongSums final : public Collective {
 public:
  explicit WrongSums(Collective* right) : right_(right) {}

  int rank() const override { return right_->rank(); }
  int size() const override { return right_->size(); }
  void AllReduce(CollectiveTag tag, absl::Span<float> values,
                 absl::Duration timeout, Done<CollectiveReply> done) override {
    right_->AllReduce(
        std::move(tag), values, timeout,
        [values, done = std::move(done)](
            absl::StatusOr<CollectiveReply> reply) mutable {
          values[5] += 1;
          std::move(done)(reply);
        });
  }
  void AllGather(CollectiveTag tag, absl::Span<const char> bytes,
                 GatheredParts* parts, absl::Duration timeout,
                 Done<CollectiveReply> done) override {
    right_->AllGather(std::move(tag), bytes, parts, timeout, std::move(done));
  }
  void Broadcast(CollectiveTag tag, int root, absl::Span<char> bytes,
                 absl::Duration timeout, Done<CollectiveReply> done) override {
    right_->Broadcast(std::move(tag), root, bytes, timeout, std::move(done));
  }

 private:
  Collective* const right_;
};

TEST_F(RingTurnsTest, Rank0LeadsAndTheOthersNeedToKnowNothing) {
  Make(3);
  TurnPlan plan = PlanOf({4, 40000});
  std::vector<absl::Status> ends(3);
  RingTurnsOptions options = Options();
  int begun = 0;
  options.on_begin = [&begun] { ++begun; };
  std::vector<std::thread> threads;
  for (int r = 1; r < 3; ++r) {
    threads.emplace_back(
        [&, r] { ends[r] = FollowTurns(ranks_[r].get(), Options()); });
  }
  ends[0] = LeadTurns(ranks_[0].get(), options, &plan);
  for (std::thread& thread : threads) thread.join();
  for (const absl::Status& end : ends) EXPECT_TRUE(end.ok()) << end;
  EXPECT_EQ(begun, 1);
  ASSERT_EQ(plan.points().size(), 2u);
  EXPECT_EQ(plan.points()[0].bytes, 4u);
  EXPECT_EQ(plan.points()[1].bytes, 40000u);
  EXPECT_GT(plan.points()[1].seconds, 0);
  EXPECT_GE(plan.points()[1].calls, 2u);
}

TEST_F(RingTurnsTest, AWrongSumEndsTheRankAndSaysWhere) {
  Make(2);
  TurnPlan plan = PlanOf({4096});
  absl::Status follower;
  std::thread thread(
      [&] { follower = FollowTurns(ranks_[1].get(), Options()); });
  WrongSums wrong(ranks_[0].get());
  const absl::Status leader = LeadTurns(&wrong, Options(), &plan);
  ranks_[0] = nullptr;
  thread.join();
  EXPECT_EQ(leader.code(), absl::StatusCode::kDataLoss);
  // 5 + 1 and 5 + 2 are 13.
  EXPECT_THAT(std::string(leader.message()),
              HasSubstr("element 5 of 1024 is 14 and should be 13"));
  EXPECT_FALSE(follower.ok());
}

TEST_F(RingTurnsTest, ARankThatLeavesEndsTheOthers) {
  Make(2);
  ranks_[0] = nullptr;
  const absl::Status end = FollowTurns(ranks_[1].get(), Options());
  EXPECT_EQ(end.code(), absl::StatusCode::kUnavailable) << end;
}

TEST_F(RingTurnsTest, ARankThatDoesNotComeIsNotWaitedForForEver) {
  Make(2);
  RingTurnsOptions options = Options();
  options.first_timeout = absl::Milliseconds(10);
  TurnPlan plan = PlanOf({4096});
  const absl::Status end = LeadTurns(ranks_[0].get(), options, &plan);
  EXPECT_EQ(end.code(), absl::StatusCode::kDeadlineExceeded) << end;
  EXPECT_TRUE(plan.points().empty());
}

TEST(TurnTest, IsReadAsItWasSent) {
  for (const AllReduceTurn& turn :
       {AllReduceTurn{}, AllReduceTurn{4096, 1, true},
        AllReduceTurn{kTurnBytesMost, TurnPlan::kMostCalls, false}}) {
    AllReduceTurn read{1, 2, true};
    ASSERT_TRUE(DecodeTurn(EncodeTurn(turn), &read).ok());
    EXPECT_EQ(read, turn);
  }
}

TEST(TurnTest, WhatCannotBeATurnIsRefused) {
  AllReduceTurn read;
  for (const std::string& bytes :
       {std::string(), std::string(23, '\0'), std::string(25, '\0'),
        EncodeTurn({6, 1, false}), EncodeTurn({kTurnBytesMost + 4, 1, false}),
        EncodeTurn({4, TurnPlan::kMostCalls + 1, false}),
        std::string(16, '\0') + std::string(8, '\2')}) {
    const absl::Status status = DecodeTurn(bytes, &read);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(status.message()),
                HasSubstr("run the same version on all ranks"));
  }
}

}  // namespace
}  // namespace shoal
