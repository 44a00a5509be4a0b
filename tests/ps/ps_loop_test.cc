#include "ps/server/ps_loop.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <variant>

#include "gtest/gtest.h"
#include "tests/harness/scripted_cluster.h"
#include "tests/harness/simulated_executor.h"

namespace shoal {
namespace {

class PsLoopTest : public testing::Test {
 protected:
  void SetUp() override {
    PsLoopOptions options;
    options.member.rejoin = false;
    options.shard.job = "j";
    options.shard.model.model = "test";
    options.shard.model.tables = {{"ids", 4, {{"w", 1, {}, {}}}}};
    options.shard.map.num_shards = 1;
    options.shard.map.tables = {{PartitionKind::kMod, 4, 1}};
    options.steps = steps_;
    options.ps_lease = absl::Seconds(3);
    options.directory_patience = absl::Seconds(6);
    PsLoopDependencies deps;
    deps.cluster = &cluster_;
    deps.logger = &logger_;
    deps.control = &strand_;
    deps.completions = &strand_;
    deps.serve = [this](std::shared_ptr<ParameterShard> shard,
                        std::shared_ptr<ParameterService> service) {
      shard_ = std::move(shard);
      service_ = std::move(service);
    };
    deps.usage = [] { return ResourceUsage{}; };
    deps.bytes = &payload_;
    deps.background = &disk_;
    deps.take_directory = [this](StartNumber start) {
      EXPECT_EQ(shard_, nullptr) << "asked when the shard was made";
      EXPECT_EQ(start, 3u);
      ++asked_;
      return directory_;
    };
    loop_ = std::make_unique<PsLoop>(std::move(options), std::move(deps));
    loop_->Start([](MemberEnd) {});
    Settle();
  }

  void Settle() { simulator_.RunFor(absl::Milliseconds(1)); }

  absl::StatusCode Pull() {
    absl::StatusCode code = absl::StatusCode::kUnknown;
    PullRequest pull;
    pull.identity = {"j", {3, 2}, {3, 1}, 1};
    shard_->Pull(pull, absl::Seconds(1), [&](absl::StatusOr<PullReply> reply) {
      code = reply.status().code();
    });
    Settle();
    return code;
  }

  Simulator simulator_;
  SimulatedExecutor strand_{&simulator_};
  SimulatedExecutor disk_{&simulator_};
  PayloadCounters payload_;
  absl::Status directory_;  // what the model directory's lock says
  int asked_ = 0;
  Logger logger_{{"", LogLevel::kError}};
  ScriptedCluster cluster_{&strand_};
  bool steps_ = false;
  std::shared_ptr<ParameterShard> shard_;
  std::shared_ptr<ParameterService> service_;
  std::unique_ptr<PsLoop> loop_;
};

// A push that landed earlier would leave a mark that no ledger keeps.
TEST_F(PsLoopTest, TheShardServesFromTheFirstViewOn) {
  ASSERT_NE(shard_, nullptr);
  EXPECT_EQ(Pull(), absl::StatusCode::kUnavailable);
  simulator_.RunFor(absl::Seconds(2));  // heartbeats are acknowledged
  EXPECT_EQ(Pull(), absl::StatusCode::kUnavailable);
  cluster_.Tell(ClusterView{1, {{"h:1", {3, 1}}}});
  Settle();
  EXPECT_EQ(Pull(), absl::StatusCode::kOk);
  simulator_.RunFor(absl::Seconds(10));
  EXPECT_EQ(Pull(), absl::StatusCode::kOk);
}

TEST_F(PsLoopTest, ALeaseRunsFromTheSendingOfTheAcknowledgedHeartbeat) {
  cluster_.answer_heartbeats = false;
  cluster_.Tell(ClusterView{1, {{"h:1", {3, 1}}}});
  simulator_.RunFor(absl::Milliseconds(2500));
  EXPECT_TRUE(shard_->Count().serving);
  // The acknowledgement of what was sent at 1 s comes at 2.5 s.
  cluster_.Tell(HeartbeatAck{2});
  simulator_.RunFor(absl::Milliseconds(1400));
  EXPECT_TRUE(shard_->Count().serving) << "at 3.9 s";
  simulator_.RunFor(absl::Milliseconds(200));
  EXPECT_FALSE(shard_->Count().serving) << "at 4.1 s";
  cluster_.Tell(HeartbeatAck{4});  // sent at 3 s
  Settle();
  EXPECT_TRUE(shard_->Count().serving);
}

TEST_F(PsLoopTest, NoOtherWordOfTheCoordinatorProlongsTheLease) {
  cluster_.answer_heartbeats = false;
  cluster_.Tell(ClusterView{1, {{"h:1", {3, 1}}}});
  simulator_.RunFor(absl::Seconds(2));
  EXPECT_TRUE(shard_->Count().serving);
  cluster_.Tell(Resume{7});
  cluster_.Tell(HeartbeatAck{99});  // of a heartbeat that was not sent
  simulator_.RunFor(absl::Milliseconds(1100));
  EXPECT_FALSE(shard_->Count().serving);
}

TEST_F(PsLoopTest, TheShardReportsItself) {
  cluster_.Tell(ClusterView{1, {{"h:1", {3, 1}}}});
  cluster_.Tell(ReportShard{});
  Settle();
  EXPECT_EQ(cluster_.Heard<ShardReport>(), 1);
}

TEST_F(PsLoopTest, AHeartbeatHasThePayloadOfTheProcess) {
  payload_.push.received = 70;
  simulator_.RunFor(absl::Seconds(2));
  EXPECT_EQ(cluster_.heartbeat.bytes.push.received, 70u);
  EXPECT_EQ(cluster_.heartbeat.bytes.pull.sent, 0u);
}

// Another job has the model directory at first.
class PsLoopDirectoryTest : public PsLoopTest {
 protected:
  void SetUp() override {
    directory_ = absl::FailedPreconditionError("start 2 has /m");
    PsLoopTest::SetUp();
  }
};

TEST_F(PsLoopDirectoryTest, NoShardIsMadeBeforeTheOtherJobHasGone) {
  cluster_.Tell(ClusterView{1, {{"h:1", {3, 1}}}});
  simulator_.RunFor(absl::Seconds(3));
  EXPECT_EQ(shard_, nullptr);
  EXPECT_GT(asked_, 1);
  EXPECT_EQ(cluster_.Heard<Failure>(), 0);
  directory_ = absl::OkStatus();
  simulator_.RunFor(absl::Seconds(1));
  ASSERT_NE(shard_, nullptr);
  EXPECT_EQ(Pull(), absl::StatusCode::kOk) << "the view came before the shard";
  const int asked = asked_;
  simulator_.RunFor(absl::Seconds(10));
  EXPECT_EQ(asked_, asked) << "the lock is there";
  EXPECT_EQ(cluster_.Heard<Failure>(), 0);
}

TEST_F(PsLoopDirectoryTest, AJobThatDoesNotGoIsTheProcesssFailure) {
  simulator_.RunFor(absl::Seconds(5));
  EXPECT_EQ(cluster_.Heard<Failure>(), 0);
  simulator_.RunFor(absl::Seconds(2));
  ASSERT_EQ(cluster_.Heard<Failure>(), 1);
  EXPECT_EQ(std::get<Failure>(cluster_.heard.back()).status, directory_);
  EXPECT_EQ(shard_, nullptr);
  const int asked = asked_;
  simulator_.RunFor(absl::Seconds(5));
  EXPECT_EQ(asked_, asked);
}

TEST_F(PsLoopDirectoryTest, AnErrorOfTheDiskIsNotWaitedFor) {
  directory_ = absl::UnimplementedError("no locks");
  simulator_.RunFor(absl::Milliseconds(200));
  EXPECT_EQ(cluster_.Heard<Failure>(), 1);
}

TEST_F(PsLoopTest, AJobWithoutStepsIsServedByTheShardItself) {
  EXPECT_EQ(service_, shard_);
  cluster_.Tell(StepClosed{.step = 1, .batches = {{.examples = 1}}});
  Settle();
  EXPECT_EQ(cluster_.Heard<Failure>(), 1);
  cluster_.Tell(NewGeneration{.number = 2});
  Settle();
  EXPECT_EQ(cluster_.Heard<Failure>(), 2);
}

// The server of a hybrid whose ranks have changed.
TEST_F(PsLoopTest, LeasesEndAndTheirMarksComeBeforeTheAnswer) {
  cluster_.Tell(ClusterView{1, {{"h:1", {3, 1}}}});
  Settle();
  const auto push = [this](uint32_t index, uint64_t lease) {
    PushRequest request;
    request.identity = {"j", {3, 2}, {3, 1}, 1};
    request.batches = {{.id = {0, 0, index}, .lease = lease, .examples = 1}};
    absl::Status status = absl::UnknownError("no answer");
    service_->Push(request, absl::Seconds(5),
                   [&status](absl::StatusOr<PushReply> reply) {
                     status = reply.status();
                   });
    simulator_.RunFor(absl::Microseconds(1));
    return status.code();
  };
  EXPECT_EQ(push(0, 7), absl::StatusCode::kOk);
  cluster_.heard.clear();
  cluster_.Tell(GenerationBegan{2, {{3, 2}}, /*leases=*/8});
  simulator_.RunFor(absl::Milliseconds(1));  // less than the mark_interval
  ASSERT_EQ(cluster_.Heard<MarkDelta>(), 1);
  ASSERT_EQ(cluster_.Heard<GenerationReady>(), 1);
  EXPECT_EQ(std::get<GenerationReady>(cluster_.heard.back()).number, 2u);
  EXPECT_EQ(push(1, 8), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(push(0, 8), absl::StatusCode::kOk) << "a repeat";
  EXPECT_EQ(push(1, 9), absl::StatusCode::kOk);
  EXPECT_EQ(shard_->TotalMarks().applied, 2u);
  EXPECT_EQ(cluster_.Heard<Failure>(), 0);
}

class PsLoopStepsTest : public PsLoopTest {
 protected:
  void SetUp() override {
    steps_ = true;
    PsLoopTest::SetUp();
    cluster_.Tell(ClusterView{1, {{"h:1", {3, 1}}}});
    Settle();
  }

  // Pushes the batch with this index, of one example and without a row. The
  // code of the answer; nullopt: the call is open.
  using Code = std::optional<absl::StatusCode>;
  std::shared_ptr<Code> Push(uint64_t step, uint32_t index,
                             uint64_t lease = 1) {
    auto code = std::make_shared<Code>();
    PushRequest push;
    push.identity = {"j", {3, 2}, {3, 1}, 1};
    push.batches = {{.id = {0, 0, index}, .lease = lease, .examples = 1}};
    push.step = step;
    service_->Push(push, absl::Seconds(5),
                   [code](absl::StatusOr<PushReply> reply) {
                     *code = reply.status().code();
                   });
    Settle();
    return code;
  }
  void CloseWith(uint64_t step, uint32_t index, bool hold = false) {
    cluster_.Tell(StepClosed{
        .step = step,
        .batches = {{.id = {0, 0, index}, .examples = 1}},
        .hold = hold});
    Settle();
  }
};

TEST_F(PsLoopStepsTest, ShardZeroTellsWhatItParksAndTakesOut) {
  const auto code = Push(1, 0);
  ASSERT_EQ(cluster_.Heard<StepParked>(), 1);
  const auto& parked = std::get<StepParked>(cluster_.heard.back());
  EXPECT_EQ(parked.step, 1u);
  EXPECT_EQ(parked.worker, (Life{3, 2}));
  simulator_.RunFor(absl::Seconds(6));
  EXPECT_EQ(*code, absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(cluster_.Heard<StepTakenOut>(), 1);
}

TEST_F(PsLoopStepsTest, AStepIsAppliedWhenTheCoordinatorClosesIt) {
  const auto first = Push(1, 0);
  EXPECT_EQ(*first, std::nullopt);
  CloseWith(1, 0, /*hold=*/true);
  EXPECT_EQ(*first, absl::StatusCode::kOk);
  EXPECT_EQ(shard_->TotalMarks().applied, 1u);
  EXPECT_EQ(*Push(2, 1), absl::StatusCode::kAborted);
  cluster_.Tell(StepsReleased{});
  Settle();
  const auto second = Push(2, 1);
  EXPECT_EQ(*second, std::nullopt);
  CloseWith(2, 1);
  EXPECT_EQ(*second, absl::StatusCode::kOk);
  EXPECT_EQ(cluster_.Heard<Failure>(), 0);
}

TEST_F(PsLoopStepsTest, AClosedStepThatCannotBeIsTheProcesssFailure) {
  CloseWith(2, 0);
  ASSERT_EQ(cluster_.Heard<Failure>(), 1);
  EXPECT_EQ(std::get<Failure>(cluster_.heard.back()).status.code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST_F(PsLoopStepsTest, AtTheEndOfAGenerationTheMarksComeFirst) {
  const auto closed = Push(1, 0);
  CloseWith(1, 0);
  EXPECT_EQ(*closed, absl::StatusCode::kOk);
  const auto open = Push(2, 1);
  cluster_.heard.clear();
  cluster_.Tell(NewGeneration{.number = 2});
  simulator_.RunFor(absl::Milliseconds(1));  // less than the mark_interval
  EXPECT_EQ(*open, absl::StatusCode::kOk) << "dropped";
  ASSERT_EQ(cluster_.Heard<GenerationReady>(), 1);
  const auto& ready = std::get<GenerationReady>(cluster_.heard.back());
  EXPECT_EQ(ready.number, 2u);
  EXPECT_EQ(ready.steps, 1u);
  EXPECT_EQ(cluster_.Heard<StepParked>(), 0);
  const int marks = cluster_.Heard<MarkDelta>();
  Settle();
  EXPECT_EQ(cluster_.Heard<MarkDelta>(), marks) << "none came later";
  EXPECT_EQ(*Push(2, 1), absl::StatusCode::kAborted);
  EXPECT_EQ(cluster_.Heard<StepParked>(), 0);
  cluster_.Tell(GenerationBegan{2, {{3, 2}}});
  Settle();
  const auto again = Push(2, 1, /*lease=*/2);
  EXPECT_EQ(*again, std::nullopt);
  EXPECT_EQ(cluster_.Heard<StepParked>(), 1);
  cluster_.Tell(NewGeneration{.number = 3});
  Settle();
  cluster_.Tell(GenerationBegan{3, {{3, 7}}});
  Settle();
  EXPECT_EQ(*Push(2, 1), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(cluster_.Heard<Failure>(), 0);
}

TEST_F(PsLoopStepsTest, AGenerationThatBeginsTooEarlyIsTheProcesssFailure) {
  cluster_.Tell(GenerationBegan{2, {{3, 2}}});
  Settle();
  EXPECT_EQ(cluster_.Heard<Failure>(), 1);
}

TEST_F(PsLoopStepsTest, ParkedPushesEndWithTheSession) {
  const auto parked = Push(1, 0);
  cluster_.EndSession(absl::NotFoundError("gone"));
  Settle();
  EXPECT_EQ(*parked, absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace shoal
