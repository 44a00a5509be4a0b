#include "ps/server/ps_loop.h"

#include <memory>
#include <utility>

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
    options.ps_lease = absl::Seconds(3);
    options.directory_patience = absl::Seconds(6);
    PsLoopDependencies deps;
    deps.cluster = &cluster_;
    deps.logger = &logger_;
    deps.control = &strand_;
    deps.completions = &strand_;
    deps.serve = [this](std::shared_ptr<ParameterShard> shard) {
      shard_ = std::move(shard);
    };
    deps.usage = [] { return ResourceUsage{}; };
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
  absl::Status directory_;  // what the model directory's lock says
  int asked_ = 0;
  Logger logger_{{"", LogLevel::kError}};
  ScriptedCluster cluster_{&strand_};
  std::shared_ptr<ParameterShard> shard_;
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

}  // namespace
}  // namespace shoal
