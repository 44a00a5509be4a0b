#include "ps/server/ps_loop.h"

#include <memory>
#include <optional>
#include <utility>
#include <variant>

#include "gtest/gtest.h"
#include "tests/harness/simulated_executor.h"

namespace shoal {
namespace {

// A coordinator that gives every process a life and says what the test says.
class ScriptedCluster : public ClusterService {
 public:
  explicit ScriptedCluster(Executor* executor) : executor_(executor) {}

  void Register(RegisterRequest, absl::Duration,
                Done<RegisterReply> done) override {
    executor_->Post([done = std::move(done)]() mutable {
      std::move(done)(RegisterReply{
          {3, 1}, true, absl::Seconds(1), absl::Seconds(5), std::nullopt});
    });
  }
  std::unique_ptr<ClusterSession> OpenSession(Life, SessionHandler h) override {
    handler_ = std::make_shared<SessionHandler>(std::move(h));
    return std::make_unique<Session>(this);
  }
  void Tell(CoordinatorMessage message) {
    executor_->Post([h = handler_, message = std::move(message)]() mutable {
      h->on_message(std::move(message));
    });
  }

  int reports = 0;

 private:
  class Session : public ClusterSession {
   public:
    explicit Session(ScriptedCluster* cluster) : cluster_(cluster) {}
    void Send(ProcessMessage message) override {
      if (std::holds_alternative<Heartbeat>(message)) {
        cluster_->Tell(HeartbeatAck{});
      }
      cluster_->reports += std::holds_alternative<ShardReport>(message);
    }

   private:
    ScriptedCluster* const cluster_;
  };

  Executor* const executor_;
  std::shared_ptr<SessionHandler> handler_;
};

class PsLoopTest : public testing::Test {
 protected:
  PsLoopTest() {
    PsLoopOptions options;
    options.member.rejoin = false;
    options.shard.job = "j";
    options.shard.model.model = "test";
    options.shard.model.tables = {{"ids", 4, {{"w", 1, {}, {}}}}};
    options.shard.map.num_shards = 1;
    options.shard.map.tables = {{PartitionKind::kMod, 4, 1}};
    options.ps_lease = absl::Seconds(3);
    PsLoopDependencies deps;
    deps.cluster = &cluster_;
    deps.logger = &logger_;
    deps.control = &strand_;
    deps.completions = &strand_;
    deps.serve = [this](std::shared_ptr<ParameterShard> shard) {
      shard_ = std::move(shard);
    };
    deps.usage = [] { return ResourceUsage{}; };
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

TEST_F(PsLoopTest, TheShardReportsItself) {
  cluster_.Tell(ClusterView{1, {{"h:1", {3, 1}}}});
  cluster_.Tell(ReportShard{});
  Settle();
  EXPECT_EQ(cluster_.reports, 1);
}

}  // namespace
}  // namespace shoal
