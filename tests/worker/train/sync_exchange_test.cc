#include "worker/train/sync_exchange.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tests/harness/simulated_executor.h"

namespace shoal {
namespace {

// Says how many steps it has applied, and answers pushes as it is told.
class FakeShard final : public ParameterService {
 public:
  void Pull(PullRequest, absl::Duration, Done<PullReply> done) override {
    std::move(done)(PullReply{.step = steps});
  }
  void Push(PushRequest request, absl::Duration,
            Done<PushReply> done) override {
    push = std::move(request);
    ++pushes;
    if (parks) {
      parked = std::move(done);
    } else {
      std::move(done)(answer);
    }
  }
  void Stats(StatsRequest, absl::Duration, Done<StatsReply>) override {}

  uint64_t steps = 0;
  PushRequest push;
  int pushes = 0;
  absl::StatusOr<PushReply> answer = PushReply{};
  bool parks = false;  // answers when the test says so
  Done<PushReply> parked;
};

const PushReply kApplied = {.verdict = Verdict::kApplied};
const PushReply kRejected = {.verdict = Verdict::kRejected};
const PushReply kRepeat = {.verdict = Verdict::kApplied, .repeat = true};
const PushReply kDropped = {.dropped = true};

class SyncExchangeTest : public testing::Test {
 protected:
  SyncExchangeTest() {
    ShardedClientOptions options;
    options.map.num_shards = 3;
    options.shard_lives = {{1, 1}, {1, 2}, {1, 3}};
    options.dense_size = 1;
    options.map.blocks = {
        {.variable = 0, .begin = 0, .end = 1, .shard = 1, .flat_begin = 0}};
    for (int s = 0; s < 3; ++s) {
      shards_.push_back(std::make_shared<FakeShard>());
    }
    client_.emplace(options,
                    std::vector<std::shared_ptr<ParameterService>>(
                        shards_.begin(), shards_.end()),
                    &executor_);
    exchange_.emplace(&*client_);
    step_.batch.id = {0, 2, 5};
    step_.batch.examples.labels.resize(70);
    step_.lease = 6;
    step_.parameters.d_dense.ResizeDiscard(1);
    step_.parameters.d_dense.data()[0] = 4;
  }

  void Pull(std::vector<uint64_t> steps) {
    for (int s = 0; s < 3; ++s) shards_[s]->steps = steps[s];
    absl::Status pulled = absl::UnknownError("");
    client_->Pull(&step_.parameters, /*read_only=*/false,
                  [&](absl::Status status) { pulled = std::move(status); });
    simulator_.RunUntilIdle();
    ASSERT_TRUE(pulled.ok()) << pulled;
  }

  absl::StatusOr<StepEnd> Finish(
      std::vector<absl::StatusOr<PushReply>> answers) {
    for (int s = 0; s < 3; ++s) shards_[s]->answer = answers[s];
    std::optional<absl::StatusOr<StepEnd>> end;
    exchange_->Begin(&step_);
    exchange_->Finish(&step_, [&](absl::StatusOr<StepEnd> e) { end = e; });
    EXPECT_FALSE(end.has_value()) << "inside the call";
    simulator_.RunUntilIdle();
    return end.has_value() ? *end : absl::UnknownError("it never ended");
  }
  absl::StatusCode CodeOf(std::vector<absl::StatusOr<PushReply>> answers) {
    return Finish(std::move(answers)).status().code();
  }

  Simulator simulator_;
  SimulatedExecutor executor_{&simulator_};
  std::vector<std::shared_ptr<FakeShard>> shards_;
  std::optional<ShardedClient> client_;
  TrainStep step_;
  std::optional<SyncExchange> exchange_;
};

TEST_F(SyncExchangeTest, PushesToAllShardsForTheStepAfterTheLeastOfThePull) {
  Pull({8, 7, 9});
  const auto end = Finish({kApplied, kApplied, kApplied});
  ASSERT_TRUE(end.ok()) << end.status();
  EXPECT_EQ(*end, StepEnd::kApplied);
  for (const auto& shard : shards_) {
    EXPECT_EQ(shard->push.step, 8u);
    ASSERT_EQ(shard->push.batches.size(), 1u);
    EXPECT_EQ(shard->push.batches[0],
              (PushedBatch{.id = {0, 2, 5}, .lease = 6, .examples = 70}));
  }
  ASSERT_EQ(shards_[1]->push.blocks.size(), 1u);
  EXPECT_EQ(shards_[1]->push.blocks[0].gradients[0], 4);
}

// The push waits on two servers because the third one did not get it.
TEST_F(SyncExchangeTest, AServerOutOfReachIsToldBeforeThoseThatWaitForIt) {
  Pull({8, 8, 8});
  const absl::Status waits = absl::DeadlineExceededError("ps 0: waits");
  EXPECT_EQ(CodeOf({waits, waits, waits}), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(Finish({waits, waits, absl::UnavailableError("away")})
                .status(),
            absl::UnavailableError("ps 2: away"));
}

TEST_F(SyncExchangeTest, ANextPullNamesTheNextStep) {
  Pull({0, 0, 0});
  ASSERT_TRUE(Finish({kApplied, kApplied, kApplied}).ok());
  EXPECT_EQ(shards_[0]->push.step, 1u);
  ASSERT_TRUE(Finish({kRepeat, kRepeat, kRepeat}).ok());
  EXPECT_EQ(shards_[0]->push.step, 1u) << "the same step finished again";
  Pull({1, 1, 1});
  ASSERT_TRUE(Finish({kApplied, kApplied, kApplied}).ok());
  EXPECT_EQ(shards_[0]->push.step, 2u);
}

TEST_F(SyncExchangeTest, ARejectedBatchIsPushedWithoutItsGradient) {
  Pull({0, 0, 0});
  step_.parameters.rejected = true;
  const auto end = Finish({kRejected, kRejected, kRejected});
  ASSERT_TRUE(end.ok());
  EXPECT_EQ(*end, StepEnd::kRejected);
  EXPECT_TRUE(shards_[1]->push.batches[0].rejected);
  EXPECT_TRUE(shards_[1]->push.blocks.empty());
}

TEST_F(SyncExchangeTest, TheAnswersOfAllShardsMakeOneResult) {
  Pull({0, 0, 0});
  const absl::Status held = absl::AbortedError("hold");
  const absl::Status late = absl::DeadlineExceededError("late");
  EXPECT_EQ(*Finish({kApplied, kRepeat, kRepeat}), StepEnd::kApplied);
  EXPECT_EQ(*Finish({kDropped, kDropped, kDropped}), StepEnd::kDropped);
  EXPECT_EQ(CodeOf({held, held, held}), absl::StatusCode::kAborted);
  // A push that one shard has must reach the others, also during the hold.
  EXPECT_EQ(CodeOf({kApplied, held, held}), absl::StatusCode::kUnavailable);
  EXPECT_EQ(CodeOf({held, held, kApplied}), absl::StatusCode::kUnavailable);
  EXPECT_EQ(CodeOf({held, late, held}), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(CodeOf({kApplied, kApplied, late}),
            absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(CodeOf({kApplied, absl::FailedPreconditionError(""), kApplied}),
            absl::StatusCode::kFailedPrecondition);
  // A batch that some shards have from a worker that was lost.
  EXPECT_EQ(*Finish({kRepeat, kDropped, kDropped}), StepEnd::kDropped);
}

// Otherwise the shard that has the push would wait for the others until the
// call's timeout.
TEST_F(SyncExchangeTest, AShardThatStillHoldsGetsAPushAgainThatAnotherHas) {
  Pull({0, 0, 0});
  shards_[0]->answer = absl::AbortedError("hold");
  shards_[1]->parks = true;
  std::optional<absl::StatusOr<StepEnd>> end;
  exchange_->Finish(&step_, [&](absl::StatusOr<StepEnd> e) { end = e; });
  simulator_.RunFor(absl::Milliseconds(12));
  EXPECT_EQ(shards_[0]->pushes, 3);
  EXPECT_EQ(shards_[0]->push.step, 1u);
  EXPECT_EQ(shards_[2]->pushes, 1) << "it has answered";
  shards_[0]->answer = kApplied;
  simulator_.RunFor(absl::Milliseconds(12));
  EXPECT_EQ(shards_[0]->pushes, 4);
  EXPECT_FALSE(end.has_value());
  std::move(shards_[1]->parked)(kApplied);
  simulator_.RunUntilIdle();
  ASSERT_TRUE(end.has_value() && end->ok());
  EXPECT_EQ(**end, StepEnd::kApplied);
}

TEST_F(SyncExchangeTest, NothingIsSentAfterItIsCancelled) {
  Pull({0, 0, 0});
  shards_[0]->answer = absl::AbortedError("hold");
  shards_[1]->parks = true;
  bool ended = false;
  exchange_->Finish(&step_, [&](absl::StatusOr<StepEnd>) { ended = true; });
  simulator_.RunFor(absl::Milliseconds(2));
  exchange_->Cancel();
  simulator_.RunFor(absl::Milliseconds(50));
  EXPECT_EQ(shards_[0]->pushes, 1);
  std::move(shards_[1]->parked)(absl::CancelledError("closed"));
  simulator_.RunUntilIdle();
  EXPECT_TRUE(ended);
}

TEST_F(SyncExchangeTest, ItIsRetiredWhenNoPushIsInFlight) {
  Pull({0, 0, 0});
  shards_[0]->answer = absl::AbortedError("hold");
  shards_[1]->parks = true;
  std::string order;
  exchange_->Finish(&step_, [&](absl::StatusOr<StepEnd> end) {
    order += absl::IsUnavailable(end.status()) ? "not applied, " : "?, ";
  });
  simulator_.RunFor(absl::Milliseconds(2));
  exchange_->Retire([&](auto) { order += "retired"; });
  simulator_.RunFor(absl::Milliseconds(50));
  EXPECT_EQ(order, "");
  EXPECT_EQ(shards_[0]->pushes, 1) << "it sends none again";
  std::move(shards_[1]->parked)(kApplied);
  simulator_.RunUntilIdle();
  EXPECT_EQ(order, "not applied, retired");
}

TEST_F(SyncExchangeTest, WithoutAPushItIsRetiredSoonAndNotInsideTheCall) {
  Pull({0, 0, 0});
  ASSERT_TRUE(Finish({kApplied, kApplied, kApplied}).ok());
  bool retired = false;
  exchange_->Retire([&](auto) { retired = true; });
  EXPECT_FALSE(retired);
  simulator_.RunUntilIdle();
  EXPECT_TRUE(retired);
}

TEST_F(SyncExchangeTest, AWorkerWaitsForTheStep) {
  EXPECT_EQ(exchange_->waits_in(), StepState::kWaitStep);
}

TEST_F(SyncExchangeTest, RetireWaitsForTheAnswersAndSendsNothingAgain) {
  Pull({8, 8, 8});
  for (const auto& shard : shards_) shard->parks = true;
  exchange_->Begin(&step_);
  std::vector<std::string> order;
  exchange_->Finish(&step_, [&](absl::StatusOr<StepEnd>) {
    order.push_back("finished");
  });
  simulator_.RunUntilIdle();
  // Shard 0 would get the push again, since the others have it.
  std::move(shards_[0]->parked)(absl::AbortedError("holds"));
  simulator_.RunFor(absl::Milliseconds(1));
  exchange_->Retire([&](absl::StatusOr<std::shared_ptr<StepMemory>> newest) {
    EXPECT_TRUE(newest.ok()) << newest.status();
    order.push_back("retired");
  });
  simulator_.RunFor(absl::Seconds(1));
  EXPECT_EQ(shards_[0]->pushes, 1);
  EXPECT_TRUE(order.empty()) << "two servers have the push";
  std::move(shards_[1]->parked)(kDropped);
  simulator_.RunFor(absl::Seconds(1));
  EXPECT_TRUE(order.empty()) << "one server has the push";
  std::move(shards_[2]->parked)(kDropped);
  simulator_.RunFor(absl::Seconds(1));
  EXPECT_EQ(order, (std::vector<std::string>{"finished", "retired"}));
  EXPECT_EQ(shards_[0]->pushes, 1);
}

TEST_F(SyncExchangeTest, RetireWithoutAPushEndsAtOnceAndNeverInsideTheCall) {
  bool retired = false;
  exchange_->Retire(
      [&](absl::StatusOr<std::shared_ptr<StepMemory>>) { retired = true; });
  EXPECT_FALSE(retired);
  simulator_.RunUntilIdle();
  EXPECT_TRUE(retired);
}

}  // namespace
}  // namespace shoal
