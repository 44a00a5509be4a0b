#include "ps/shard/step_shard.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "core/canary.h"
#include "partitioner/build_shard_map.h"
#include "tests/conformance/completion.h"
#include "tests/harness/simulated_executor.h"
#include "tests/ps/step_push.h"

namespace shoal {
namespace {

class StepShardTest : public testing::Test {
 protected:
  void Start(ModelSpec model) {
    ParameterShardOptions options;
    options.job = "test";
    options.model = model;
    auto map = BuildShardMap(model, PartitionOptions(), 1);
    ASSERT_TRUE(map.ok());
    options.map = *map;
    options.life = {1, 1};
    auto made = ParameterShard::Create(options, &executor_);
    ASSERT_TRUE(made.ok()) << made.status();
    shard_ = *std::move(made);
    shard_->ServeUntil(absl::InfiniteFuture());
    map_ = options.map;
    steps_ = std::make_shared<StepShard>(StepGatherOptions{.reports = true},
                                         model, shard_, &executor_,
                                         [this] { ++told_; });
  }
  void SetUp() override { Start(StepModel(OptimizerKind::kSgd)); }

  CallIdentity Identity() const {
    return {"test", {1, 100}, {1, 1}, map_.version};
  }
  // One call, which may be open.
  struct Call {
    std::unique_ptr<StepPush> push;
    Completion<PushReply> completion;
  };
  // A call that is not sent yet; the fixture keeps it.
  Call* Make(uint32_t rank, uint32_t step, const BatchGradient& gradient) {
    calls_.push_back(std::make_unique<Call>());
    calls_.back()->push = std::make_unique<StepPush>(map_, 0, Identity(), rank,
                                                     step, gradient);
    return &*calls_.back();
  }
  Call* MakeRejected(uint32_t rank, uint32_t step) {
    Call* const call = Make(rank, step, BatchGradient());
    call->push->request.blocks.clear();
    call->push->request.batches[0].rejected = true;
    return call;
  }
  Call* Begin(uint32_t rank, uint32_t step,
              absl::Duration timeout = absl::Seconds(10)) {
    Call* const call = Make(rank, step, GradientOf(rank, step));
    Send(call, timeout);
    return call;
  }
  // Sends the push, and lets nothing else happen.
  void Start(Call* call, absl::Duration timeout = absl::Seconds(10)) {
    call->completion.Start([&](Done<PushReply> done) {
      steps_->Push(call->push->request, timeout, std::move(done));
    });
  }
  void Send(Call* call, absl::Duration timeout = absl::Seconds(10)) {
    Start(call, timeout);
    Settle();
  }
  void Settle() { simulator_.RunFor(absl::Milliseconds(1)); }
  void Close(const StepClosed& step) {
    const absl::Status closed = steps_->Close(step);
    EXPECT_TRUE(closed.ok()) << closed;
    Settle();
  }
  // "open", or what the call was answered.
  static std::string Answer(Call* call) {
    if (!call->completion.ran()) return "open";
    const auto reply = call->completion.Wait();
    if (!reply.ok()) return absl::StatusCodeToString(reply.status().code());
    if (reply->dropped) return "dropped";
    std::string answer =
        reply->verdict == Verdict::kApplied ? "applied" : "rejected";
    if (reply->repeat) answer += " before";
    return answer;
  }
  uint64_t StepOfPull() {
    Completion<PullReply> completion;
    PullRequest request;
    request.identity = Identity();
    completion.Start([&](Done<PullReply> done) {
      steps_->Pull(request, absl::Seconds(1), std::move(done));
    });
    Settle();
    const auto reply = completion.Wait();
    EXPECT_TRUE(reply.ok()) << reply.status();
    return reply->step;
  }
  uint64_t Digest() {
    Completion<StatsReply> completion;
    completion.Start([&](Done<StatsReply> done) {
      steps_->Stats({Identity()}, absl::Seconds(1), std::move(done));
    });
    Settle();
    const auto reply = completion.Wait();
    EXPECT_TRUE(reply.ok()) << reply.status();
    stats_ = *reply;
    return reply->digest;
  }
  // The digest after these steps, each of these ranks.
  static uint64_t SerialDigest(
      const std::vector<std::vector<uint32_t>>& steps) {
    return shoal::SerialDigest(OptimizerKind::kSgd, steps);
  }

  Simulator simulator_;
  SimulatedExecutor executor_{&simulator_};
  ShardMap map_;
  std::shared_ptr<ParameterShard> shard_;
  std::shared_ptr<StepShard> steps_;
  int told_ = 0;
  StatsReply stats_;
  std::vector<std::unique_ptr<Call>> calls_;
};

TEST_F(StepShardTest, AStepChangesNothingBeforeItIsClosedAndWhole) {
  const uint64_t before = Digest();
  Call* const first = Begin(0, 1);
  Call* const second = Begin(1, 1);
  EXPECT_EQ(Answer(first), "open");
  EXPECT_EQ(Digest(), before) << "the shard closed the step by itself";
  EXPECT_EQ(told_, 1) << "once until the reports are taken";
  EXPECT_EQ(steps_->TakeReports().size(), 2u);
  Close(ClosedWith(1, {0, 1, 2}));
  EXPECT_EQ(Digest(), before) << "a push of the step is missing";
  EXPECT_EQ(StepOfPull(), 0u);
  Call* const third = Begin(2, 1);
  EXPECT_EQ(Answer(first), "applied");
  EXPECT_EQ(Answer(second), "applied");
  EXPECT_EQ(Answer(third), "applied");
  EXPECT_EQ(StepOfPull(), 1u);
  EXPECT_EQ(Digest(), SerialDigest({{0, 1, 2}}));
  EXPECT_EQ(stats_.version.count, 1u);
  EXPECT_EQ(shard_->Staleness().max(), 0u);
}

TEST_F(StepShardTest, TheOrderIsThatOfTheSetAndNotOfArrival) {
  Begin(1, 1);
  Begin(2, 1);
  Begin(0, 1);
  Close(ClosedWith(1, {0, 1, 2}));
  EXPECT_EQ(Digest(), SerialDigest({{0, 1, 2}}));
  EXPECT_NE(Digest(), SerialDigest({{1, 2, 0}})) << "any order is the same";
}

TEST_F(StepShardTest, AtItsTimeoutAPushIsTakenOutAndItsCopyParksAnew) {
  Call* const first = Begin(0, 1, absl::Seconds(2));
  Call* const second = Begin(1, 1, absl::Seconds(5));
  simulator_.RunFor(absl::Seconds(3));
  EXPECT_EQ(Answer(first), "DEADLINE_EXCEEDED");
  EXPECT_EQ(Answer(second), "open");
  const auto reports = steps_->TakeReports();
  ASSERT_EQ(reports.size(), 3u);
  EXPECT_TRUE(std::holds_alternative<StepTakenOut>(reports[2]));
  // Nothing reads the spans of a call that has ended.
  first->push->rows.assign(first->push->rows.size(), NAN);
  first->push->dense.assign(first->push->dense.size(), NAN);
  Close(ClosedWith(1, {0, 1}));
  EXPECT_EQ(Answer(second), "open") << "the step waits for the copy";
  Call* const copy = Begin(0, 1);
  EXPECT_EQ(Answer(copy), "applied");
  EXPECT_EQ(Answer(second), "applied");
  EXPECT_EQ(Digest(), SerialDigest({{0, 1}}));
}

TEST_F(StepShardTest, EachTimeoutCountsAlsoAfterALongerOne) {
  Call* const slow = Begin(0, 1, absl::Seconds(30));
  Call* const quick = Begin(1, 1, absl::Seconds(1));
  Call* const between = Begin(2, 1, absl::Seconds(10));
  simulator_.RunFor(absl::Seconds(2));
  EXPECT_EQ(Answer(quick), "DEADLINE_EXCEEDED");
  EXPECT_EQ(Answer(between), "open");
  simulator_.RunFor(absl::Seconds(9));
  EXPECT_EQ(Answer(between), "DEADLINE_EXCEEDED");
  EXPECT_EQ(Answer(slow), "open");
  simulator_.RunFor(absl::Seconds(20));
  EXPECT_EQ(Answer(slow), "DEADLINE_EXCEEDED");
}

TEST_F(StepShardTest, ANewerCopyTakesThePlaceOfTheParkedOne) {
  Call* const first = Begin(0, 1);
  Call* const copy = Begin(0, 1);
  EXPECT_EQ(Answer(first), "UNAVAILABLE");
  EXPECT_EQ(steps_->TakeReports().size(), 1u);
  Close(ClosedWith(1, {0}));
  EXPECT_EQ(Answer(copy), "applied");
  EXPECT_EQ(Digest(), SerialDigest({{0}}));
}

TEST_F(StepShardTest, ACopyOfAnAppliedPushIsARepeat) {
  Begin(0, 1);
  Close(ClosedWith(1, {0}));
  Call* const copy = Begin(0, 1);
  EXPECT_EQ(Answer(copy), "applied before");
  Call* const next = Begin(0, 2);
  Close(ClosedWith(2, {0}));
  EXPECT_EQ(Answer(next), "applied");
  Call* const old = Begin(0, 1);
  EXPECT_EQ(Answer(old), "applied before");
  EXPECT_EQ(Digest(), SerialDigest({{0}, {0}}));
  EXPECT_EQ(stats_.repeats_refused, 2u);
}

// The marks have the batch already, but the shard does not count the step yet:
// a pull after the answer would name the step again.
TEST_F(StepShardTest, ACopyOfAPushThatIsBeingAppliedIsSentAgain) {
  Call* const first = Begin(0, 1);
  Close(ClosedWith(1, {0, 1}));
  Call* const second = Make(1, 1, GradientOf(1, 1));
  Call* const copy = Make(0, 1, GradientOf(0, 1));
  Start(second);
  ASSERT_EQ(shard_->TotalMarks().applied, 2u);
  Start(copy);
  Settle();
  EXPECT_EQ(Answer(copy), "UNAVAILABLE");
  EXPECT_EQ(Answer(first), "applied");
  EXPECT_EQ(Answer(second), "applied");
  EXPECT_EQ(Answer(Begin(0, 1)), "applied before");
}

TEST_F(StepShardTest, ALatePushIsDroppedAndMayComeAgainInAnotherStep) {
  Call* const first = Begin(0, 1);
  Call* const parked = Begin(1, 1);
  Close(ClosedWith(1, {0}));
  Call* const late = Begin(2, 1);
  EXPECT_EQ(Answer(first), "applied");
  EXPECT_EQ(Answer(parked), "dropped");
  EXPECT_EQ(Answer(late), "dropped");
  EXPECT_EQ(Digest(), SerialDigest({{0}}));
  EXPECT_EQ(shard_->TotalMarks().applied, 1u) << "they have no mark";
  // Rank 0 trains the batch later.
  Call* const call = Make(0, 2, GradientOf(2, 1));
  call->push->request.batches = {StepBatchOf(2, 1)};
  Send(call);
  Close({.step = 2, .batches = {StepBatchOf(2, 1)}});
  EXPECT_EQ(Answer(call), "applied");
  Call* const again = Begin(2, 1);
  EXPECT_EQ(Answer(again), "applied before");
}

TEST_F(StepShardTest, ADroppedPushIsAnsweredByTheShardsLife) {
  Begin(0, 1);
  Call* const parked = Begin(1, 1);
  Close(ClosedWith(1, {0}));
  const auto reply = parked->completion.Wait();
  ASSERT_TRUE(reply.ok());
  EXPECT_EQ(reply->version.life, (Life{1, 1}));
}

TEST_F(StepShardTest, ARejectedBatchIsMarkedAndLeftOut) {
  Call* const rejected = MakeRejected(1, 1);
  Send(rejected);
  Call* const first = Begin(0, 1);
  Call* const third = Begin(2, 1);
  StepClosed closed = ClosedWith(1, {0, 1, 2});
  closed.batches[1].rejected = true;
  Close(closed);
  EXPECT_EQ(Answer(rejected), "rejected");
  EXPECT_EQ(Answer(first), "applied");
  EXPECT_EQ(Answer(third), "applied");
  EXPECT_EQ(Digest(), SerialDigest({{0, 2}})) << "nor do its examples count";
  EXPECT_EQ(shard_->TotalMarks().rejected, 1u);
}

TEST_F(StepShardTest, AStepWhoseBatchesAreAllRejectedCountsAsAStep) {
  const uint64_t before = Digest();
  Call* const rejected = MakeRejected(0, 1);
  Send(rejected);
  StepClosed closed = ClosedWith(1, {0});
  closed.batches[0].rejected = true;
  Close(closed);
  EXPECT_EQ(Answer(rejected), "rejected");
  EXPECT_EQ(StepOfPull(), 1u);
  EXPECT_EQ(Digest(), before);
  EXPECT_EQ(stats_.version.count, 0u);
}

TEST_F(StepShardTest, APartThatIsNotSoundIsRejectedAlone) {
  BatchGradient bad = GradientOf(1, 1);
  bad.dense[3] = NAN;
  Call* const first = Begin(0, 1);
  Call* const second = Make(1, 1, bad);
  Send(second);
  Close(ClosedWith(1, {0, 1}));
  EXPECT_EQ(Answer(first), "applied");
  EXPECT_EQ(Answer(second), "rejected");
  EXPECT_EQ(Digest(), SerialDigest({{0}}));
}

TEST_F(StepShardTest, WhileTheJobHoldsPushesOfLaterStepsAreAborted) {
  Call* const first = Begin(0, 1);
  Close(ClosedWith(1, {0}, /*hold=*/true));
  EXPECT_EQ(Answer(first), "applied");
  Call* const held = Begin(0, 2);
  EXPECT_EQ(Answer(held), "ABORTED");
  EXPECT_EQ(Answer(Begin(0, 1)), "applied before");
  EXPECT_EQ(Answer(Begin(1, 1)), "dropped");
  steps_->TakeReports();
  EXPECT_EQ(StepOfPull(), 1u);
  steps_->Release();
  Call* const again = Begin(0, 2);
  EXPECT_EQ(Answer(again), "open");
  EXPECT_EQ(steps_->TakeReports().size(), 1u);
  Close(ClosedWith(2, {0}));
  EXPECT_EQ(Answer(again), "applied");
  EXPECT_EQ(Digest(), SerialDigest({{0}, {0}}));
}

TEST_F(StepShardTest, AStepThatTheShardRefusesIsRefusedToAllAndStaysClosed) {
  Call* const first = Begin(0, 1);
  Call* const second = Begin(1, 1);
  ASSERT_TRUE(shard_->Seal(absl::ZeroDuration()).ok());
  Close(ClosedWith(1, {0, 1}));
  EXPECT_EQ(Answer(first), "UNAVAILABLE");
  EXPECT_EQ(Answer(second), "UNAVAILABLE");
  shard_->Unseal();
  EXPECT_EQ(StepOfPull(), 0u);
  Call* const late = Begin(2, 1);
  EXPECT_EQ(Answer(late), "dropped");
  Call* const first_again = Begin(0, 1);
  EXPECT_EQ(Answer(first_again), "open");
  Call* const second_again = Begin(1, 1);
  EXPECT_EQ(Answer(first_again), "applied");
  EXPECT_EQ(Answer(second_again), "applied");
  EXPECT_EQ(Digest(), SerialDigest({{0, 1}}));
}

TEST_F(StepShardTest, APushIsCheckedWhenItComes) {
  Call* const bad = Make(0, 1, GradientOf(0, 1));
  bad->push->ids[0] = kStepFeatures;
  Send(bad);
  EXPECT_EQ(Answer(bad), "INVALID_ARGUMENT");
  Call* const other = Make(0, 1, GradientOf(0, 1));
  other->push->request.identity.shard = {1, 9};
  Send(other);
  EXPECT_EQ(Answer(other), "FAILED_PRECONDITION");
  Call* const stepless = Make(0, 1, GradientOf(0, 1));
  stepless->push->request.step = 0;
  Send(stepless);
  EXPECT_EQ(Answer(stepless), "FAILED_PRECONDITION");
  EXPECT_TRUE(steps_->TakeReports().empty());
  EXPECT_EQ(Answer(Begin(0, 2)), "INVALID_ARGUMENT") << "a later step";
}

TEST_F(StepShardTest, AtTheEndParkedPushesAreAnswered) {
  Call* const parked = Begin(0, 1);
  steps_->End();
  Settle();
  EXPECT_EQ(Answer(parked), "UNAVAILABLE");
  EXPECT_EQ(Answer(Begin(1, 1)), "UNAVAILABLE");
}

// ---- Generations

// The digest after one step of these ranks, without the gradients of some.
uint64_t DigestWithout(const std::vector<uint32_t>& ranks,
                       const std::set<BatchId>& without) {
  ShardSet serial(StepModel(OptimizerKind::kSgd), PartitionKind::kFixedSize, 1);
  EXPECT_TRUE(
      serial.Push(0, SerialSum(ClosedWith(1, ranks).batches, without)).ok());
  return serial.Digest();
}

TEST_F(StepShardTest, ALostBatchIsLeftOutAndItsExamplesCount) {
  Call* const first = Begin(0, 1);
  Close(ClosedWith(1, {0, 1, 2}));
  Call* const open = Begin(2, 1);
  EXPECT_EQ(Answer(first), "open") << "rank 1's push is missing";
  steps_->EndGeneration({2, {{0, 1, 1}}});
  Settle();
  EXPECT_EQ(Answer(first), "applied");
  EXPECT_EQ(Answer(open), "applied");
  EXPECT_EQ(StepOfPull(), 1u);
  EXPECT_EQ(Digest(), DigestWithout({0, 1, 2}, {{0, 1, 1}}));
  EXPECT_EQ(shard_->TotalMarks().applied, 2u) << "it will be dealt again";
  const auto reports = steps_->TakeReports();
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(std::get<GenerationReady>(reports[0]).steps, 1u);
  EXPECT_EQ(Answer(Begin(1, 1)), "dropped") << "it thawed";
  EXPECT_EQ(Answer(Begin(0, 1)), "applied before");
  EXPECT_EQ(Answer(Begin(0, 2)), "ABORTED");
}

TEST_F(StepShardTest, AStepOfWhichNothingCameCountsAsApplied) {
  const uint64_t before = Digest();
  Close(ClosedWith(1, {1}));
  steps_->EndGeneration({2, {{0, 1, 1}}});
  Settle();
  EXPECT_EQ(StepOfPull(), 1u);
  EXPECT_EQ(Digest(), before);
  EXPECT_EQ(steps_->TakeReports().size(), 1u);
}

TEST_F(StepShardTest, TheOpenStepIsDroppedWithItsGeneration) {
  Call* const parked = Begin(0, 1);
  const uint64_t before = Digest();
  steps_->EndGeneration({.number = 2});
  Settle();
  EXPECT_EQ(Answer(parked), "dropped");
  EXPECT_EQ(Answer(Begin(1, 1)), "ABORTED");
  EXPECT_EQ(Digest(), before);
  ASSERT_TRUE(steps_->BeginGeneration({2, {{1, 100}}}).ok());
  EXPECT_EQ(Answer(Begin(1, 1)), "FAILED_PRECONDITION") << "a lost worker";
  EXPECT_EQ(Answer(Begin(0, 1)), "dropped") << "a copy of the old push";
  Call* const again = Make(0, 1, GradientOf(0, 1));
  again->push->request.batches[0].lease = 2;
  Send(again);
  Close(ClosedWith(1, {0}));
  EXPECT_EQ(Answer(again), "applied");
  EXPECT_EQ(Digest(), SerialDigest({{0}}));
}

// Its worker may have given up after an error, at the end of the generation.
TEST_F(StepShardTest, ASurvivorsPushIsAwaitedForAWhile) {
  Call* const first = Begin(0, 1);
  Close(ClosedWith(1, {0, 2}));
  steps_->EndGeneration({.number = 2});
  simulator_.RunFor(StepShard::kSurvivorPatience - absl::Milliseconds(10));
  EXPECT_EQ(Answer(first), "open");
  EXPECT_TRUE(steps_->TakeReports().empty());
  simulator_.RunFor(absl::Milliseconds(20));
  EXPECT_EQ(Answer(first), "applied");
  EXPECT_EQ(steps_->TakeReports().size(), 1u);
  EXPECT_EQ(Digest(), DigestWithout({0, 2}, {{0, 2, 1}}));
  EXPECT_EQ(Answer(Begin(2, 1)), "dropped");
}

// Another shard lacks batch (0,1,1), so it is trained again in step 2.
TEST_F(StepShardTest, ABatchThatTheShardHasIsParkedForTheOpenStepAsARepeat) {
  Begin(0, 1);
  Begin(1, 1);
  Close(ClosedWith(1, {0, 1}));
  steps_->TakeReports();
  shard_->TakeMarks();
  Call* const mended = Make(2, 2, GradientOf(1, 1));
  mended->push->request.batches = {StepBatchOf(1, 1)};
  mended->push->request.batches[0].lease = 9;
  Send(mended);
  EXPECT_EQ(Answer(mended), "open");
  const auto reports = steps_->TakeReports();
  ASSERT_EQ(reports.size(), 1u) << "PS 0 must tell of it";
  EXPECT_EQ(std::get<StepParked>(reports[0]).batch.id, (BatchId{0, 1, 1}));
  Call* const fresh = Begin(0, 2);
  StepClosed closed = ClosedWith(2, {0});
  closed.batches.push_back(mended->push->request.batches[0]);
  Close(closed);
  EXPECT_EQ(Answer(fresh), "applied");
  EXPECT_EQ(Answer(mended), "applied before");
  EXPECT_EQ(StepOfPull(), 2u);
  // The coordinator learns of the second forward pass.
  const MarkDelta delta = shard_->TakeMarks();
  ASSERT_EQ(delta.marks.size(), 2u);
  EXPECT_TRUE(delta.marks[0].repeat);
  EXPECT_EQ(delta.marks[0].lease, 9u);
  EXPECT_FALSE(delta.marks[1].repeat);
  EXPECT_EQ(delta.repeats_refused, 1u);
  ShardSet serial(StepModel(OptimizerKind::kSgd), PartitionKind::kFixedSize, 1);
  const StepClosed first = ClosedWith(1, {0, 1});
  ASSERT_TRUE(serial.Push(0, SerialSum(first.batches)).ok());
  ASSERT_TRUE(serial.Push(0, SerialSum(closed.batches, {{0, 1, 1}})).ok());
  EXPECT_EQ(Digest(), serial.Digest()) << "it adds nothing, and is divided by";
}

TEST_F(StepShardTest, AStepOfRepeatsAloneCountsAsApplied) {
  Begin(1, 1);
  Close(ClosedWith(1, {1}));
  const uint64_t before = Digest();
  Call* const mended = Make(2, 2, GradientOf(1, 1));
  mended->push->request.batches = {StepBatchOf(1, 1)};
  Send(mended);
  Close({.step = 2, .batches = {StepBatchOf(1, 1)}});
  EXPECT_EQ(Answer(mended), "applied before");
  EXPECT_EQ(StepOfPull(), 2u);
  EXPECT_EQ(Digest(), before);
}

TEST_F(StepShardTest, ARepeatThatIsNotInItsStepIsAnsweredAsARepeat) {
  Begin(1, 1);
  Close(ClosedWith(1, {1}));
  Call* const mended = Make(2, 2, GradientOf(1, 1));
  mended->push->request.batches = {StepBatchOf(1, 1)};
  Send(mended);
  Begin(0, 2);
  Close(ClosedWith(2, {0}));
  EXPECT_EQ(Answer(mended), "applied before");
}

TEST_F(StepShardTest, NeitherCanariesNorTheGradientsOfAModelOfSumsAreDivided) {
  for (const bool divides : {true, false}) {
    ModelSpec model = StepModel(OptimizerKind::kSgd);
    model.divides_gradient = divides;
    AddCanary(&model);
    Start(model);
    std::vector<Call*> calls;
    const auto canary = CanaryGradients(1);
    std::vector<FeatureId> canaries;
    for (uint32_t rank = 0; rank < 3; ++rank) {
      canaries.push_back(*CanaryRow({0, rank, 1}));
    }
    for (uint32_t rank = 0; rank < 3; ++rank) {
      Call* const call = Make(rank, 1, GradientOf(rank, 1));
      call->push->request.tables.push_back(
          {1, absl::MakeConstSpan(&canaries[rank], 1), canary});
      Send(call);
      calls.push_back(call);
    }
    Close(ClosedWith(1, {0, 1, 2}));
    for (Call* const call : calls) EXPECT_EQ(Answer(call), "applied");
    const uint64_t digest = Digest();
    ASSERT_TRUE(stats_.canary.has_value());
    EXPECT_EQ(stats_.canary->rows, 3u);
    EXPECT_EQ(stats_.canary->not_one, 0u);
    EXPECT_EQ(stats_.canary->foreign, 0u);
    EXPECT_EQ(digest == SerialDigest({{0, 1, 2}}), divides);
  }
}

}  // namespace
}  // namespace shoal
