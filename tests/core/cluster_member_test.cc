#include "core/cluster_member.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "gtest/gtest.h"
#include "tests/harness/fake_cluster.h"
#include "tests/harness/simulated_executor.h"

namespace shoal {
namespace {

// A coordinator that does as the test says.
class ScriptedCluster : public FakeCluster {
 public:
  explicit ScriptedCluster(Executor* executor) : FakeCluster(executor) {}

  void Register(RegisterRequest request, absl::Duration,
                Done<RegisterReply> done) override {
    requests.push_back(request);
    absl::StatusOr<RegisterReply> reply =
        RegisterReply{{1, lives + 1}, true, absl::Seconds(1), absl::Seconds(5)};
    if (refuse.ok()) {
      ++lives;
    } else {
      reply = refuse;
    }
    executor()->Post([reply, done = std::move(done)]() mutable {
      std::move(done)(std::move(reply));
    });
  }

  std::unique_ptr<ClusterSession> OpenSession(SessionOpening opening,
                                              SessionHandler h) override {
    handler = std::make_shared<SessionHandler>(std::move(h));
    openings.push_back(opening);
    if (!reachable.ok()) {
      EndSession(reachable);
    } else if (opening.resume) {
      Tell(SessionResumed{taken});
    }
    return std::make_unique<Session>(this);
  }

  void Tell(CoordinatorMessage message) {
    executor()->Post([h = handler, message = std::move(message)]() mutable {
      h->on_message(std::move(message));
    });
  }
  void EndSession(absl::Status status) {
    executor()->Post([h = handler, status] { h->on_end(status); });
  }

  absl::Status refuse;     // not OK: what Register answers
  absl::Status reachable;  // not OK: how every new connection ends
  std::vector<SessionOpening> openings;
  uint64_t taken = 0;            // messages of the session
  bool deaf = false;             // what is sent is lost
  std::vector<uint64_t> leases;  // of each LeaseDone
  std::vector<RegisterRequest> requests;
  uint32_t lives = 0;
  int heartbeats = 0;
  int byes = 0;
  bool answer_heartbeats = true;
  bool answer_bye = true;
  std::shared_ptr<SessionHandler> handler;

 private:
  class Session : public ClusterSession {
   public:
    explicit Session(ScriptedCluster* cluster) : cluster_(cluster) {}
    void Send(ProcessMessage message) override {
      if (cluster_->deaf) return;
      ++cluster_->taken;
      if (const auto* done = std::get_if<LeaseDone>(&message)) {
        cluster_->leases.push_back(done->lease);
      }
      if (const auto* heartbeat = std::get_if<Heartbeat>(&message)) {
        ++cluster_->heartbeats;
        if (cluster_->answer_heartbeats) {
          cluster_->Tell(HeartbeatAck{heartbeat->number, cluster_->taken});
        }
      } else if (std::holds_alternative<Bye>(message)) {
        ++cluster_->byes;
        if (cluster_->answer_bye) cluster_->EndSession(absl::OkStatus());
      }
    }

   private:
    ScriptedCluster* const cluster_;
  };
};

class ClusterMemberTest : public testing::Test {
 protected:
  void Start(bool rejoin, Role role = Role::kWorker) {
    ClusterMemberOptions options;
    options.registration.job = "test";
    options.registration.role = role;
    options.rejoin = rejoin;
    logger.emplace(LoggerOptions{.level = log_level});
    member =
        std::make_unique<ClusterMember>(options, &cluster, &strand, &*logger);
    ClusterMemberHandlers handlers;
    handlers.on_joined = [this](const RegisterReply& reply,
                                std::shared_ptr<ClusterSession> s) {
      joined.push_back(reply.life);
      session = std::move(s);
    };
    handlers.marks = [] { return MarkTotals{7, 1, 99}; };
    handlers.on_message = [this](CoordinatorMessage m) {
      messages.push_back(std::move(m));
    };
    handlers.on_acknowledged = [this](absl::Time sent) {
      acknowledged.push_back(sent);
    };
    handlers.on_left = [this] { ++left; };
    handlers.heartbeat = [] { return Heartbeat{}; };
    handlers.on_end = [this](MemberEnd end) { ends.push_back(end); };
    member->Start(std::move(handlers));
  }

  Simulator simulator;
  SimulatedExecutor strand{&simulator};
  LogLevel log_level = LogLevel::kError;
  std::optional<Logger> logger;
  ScriptedCluster cluster{&strand};
  std::unique_ptr<ClusterMember> member;
  std::vector<Life> joined;
  std::shared_ptr<ClusterSession> session;
  std::vector<CoordinatorMessage> messages;
  std::vector<absl::Time> acknowledged;
  int left = 0;
  std::vector<MemberEnd> ends;
};

TEST_F(ClusterMemberTest, JoinsBeatsAndEndsWithTheJob) {
  Start(true);
  simulator.RunFor(absl::Milliseconds(3500));
  ASSERT_EQ(joined, (std::vector<Life>{{1, 1}}));
  EXPECT_EQ(cluster.heartbeats, 4);  // at 0, 1, 2, 3 s
  cluster.Tell(LeaseGrant{});
  cluster.Tell(JobEnd{absl::OkStatus(), "all well"});
  simulator.RunFor(absl::Seconds(1));
  EXPECT_TRUE(std::holds_alternative<LeaseGrant>(messages.back()));
  EXPECT_EQ(cluster.byes, 1);
  EXPECT_EQ(cluster.heartbeats, 5) << "a last one before the Bye";
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_TRUE(ends[0].status.ok());
  EXPECT_EQ(ends[0].summary, "all well");
  EXPECT_TRUE(ends[0].job_over);
  EXPECT_EQ(left, 1);
}

TEST_F(ClusterMemberTest, WaitsForALateCoordinatorUntilTheStartDeadline) {
  cluster.refuse = absl::UnavailableError("no server at h1:1");
  Start(true);
  simulator.RunFor(absl::Seconds(100));
  EXPECT_TRUE(ends.empty());
  EXPECT_GT(cluster.requests.size(), 50u);
  simulator.RunFor(absl::Seconds(30));
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_TRUE(absl::IsUnavailable(ends[0].status));
  EXPECT_EQ(ends[0].status.message(), "cannot join the job: no server at h1:1");
  EXPECT_FALSE(ends[0].lost) << "it was never in the job";
}

// A rank has a worker and a PS without an address, which wait for the same.
TEST_F(ClusterMemberTest, ARankSaysOnceThatItWaitsForTheCoordinator) {
  log_level = LogLevel::kInfo;
  cluster.refuse = absl::UnavailableError("no server at h1:1");
  const auto says = [this](Role role) {
    testing::internal::CaptureStderr();
    Start(true, role);
    simulator.RunFor(absl::Seconds(10));
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_EQ(says(Role::kPs), "");
  EXPECT_NE(says(Role::kWorker).find("waiting for the coordinator: no server"),
            std::string::npos);
}

TEST_F(ClusterMemberTest, ItsRequestsAreToldFromEachOtherAndFromOthers) {
  cluster.refuse = absl::UnavailableError("no server at h1:1");
  Start(true);
  simulator.RunFor(absl::Seconds(5));
  cluster.refuse = absl::OkStatus();
  simulator.RunFor(absl::Seconds(5));
  cluster.EndSession(absl::NotFoundError("gone"));  // and joins again
  simulator.RunFor(absl::Seconds(1));
  const std::vector<RegisterRequest> requests = cluster.requests;
  ASSERT_GE(requests.size(), 3u);
  for (size_t i = 1; i < requests.size(); ++i) {
    EXPECT_EQ(requests[i].process, requests[0].process);
    EXPECT_GT(requests[i].attempt, requests[i - 1].attempt);
  }
  Start(true);  // another process
  simulator.RunFor(absl::Seconds(1));
  EXPECT_NE(cluster.requests.back().process, requests[0].process);
}

TEST_F(ClusterMemberTest, ComesBackToAServerThatIsFull) {
  cluster.refuse = absl::ResourceExhaustedError("32 calls: retry later");
  Start(true);
  simulator.RunFor(absl::Seconds(1));
  EXPECT_TRUE(ends.empty());
  cluster.refuse = absl::OkStatus();
  simulator.RunFor(absl::Seconds(5));
  EXPECT_EQ(joined.size(), 1u);
}

TEST_F(ClusterMemberTest, ARefusalIsFinal) {
  cluster.refuse = absl::FailedPreconditionError("--seed differs");
  Start(true);
  simulator.RunFor(absl::Seconds(1));
  EXPECT_EQ(cluster.requests.size(), 1u);
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_TRUE(absl::IsFailedPrecondition(ends[0].status));
  EXPECT_FALSE(ends[0].lost);
}

TEST_F(ClusterMemberTest, ARefusalByAJobThatLostAProcessIsItsEnd) {
  cluster.refuse = absl::AbortedError("the job is over: ps 1 died");
  Start(true);
  simulator.RunFor(absl::Seconds(1));
  EXPECT_EQ(cluster.requests.size(), 1u);
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_TRUE(ends[0].lost);
}

TEST_F(ClusterMemberTest, ABrokenConnectionCostsNothing) {
  for (const bool rejoin : {false, true}) {
    cluster.openings.clear();
    cluster.leases.clear();
    cluster.taken = 0;
    left = 0;
    joined.clear();
    ends.clear();
    Start(rejoin);
    simulator.RunFor(absl::Milliseconds(1500));
    session->Send(LeaseDone{1});
    cluster.deaf = true;  // the connection breaks; this side has not heard so
    session->Send(LeaseDone{2});
    cluster.EndSession(absl::UnavailableError("reset"));
    simulator.RunFor(absl::Milliseconds(1));
    session->Send(LeaseDone{3});
    cluster.deaf = false;
    simulator.RunFor(absl::Seconds(1));
    EXPECT_EQ(cluster.leases, (std::vector<uint64_t>{1, 2, 3}));
    EXPECT_EQ(joined.size(), 1u);
    EXPECT_EQ(left, 0);
    ASSERT_EQ(cluster.openings.size(), 2u);
    EXPECT_FALSE(cluster.openings[0].resume);
    const SessionOpening& again = cluster.openings[1];
    EXPECT_TRUE(again.resume);
    EXPECT_EQ(again.life, joined[0]);
    EXPECT_EQ(again.taken, 2u) << "two acknowledgements";
    EXPECT_EQ(again.marks, (MarkTotals{7, 1, 99}));
    member->Leave();
    simulator.RunFor(absl::Seconds(6));
  }
}

TEST_F(ClusterMemberTest, AConnectionThatCannotBeMadeAgainEndsTheLife) {
  Start(false);
  simulator.RunFor(absl::Seconds(1));
  cluster.reachable = absl::UnavailableError("ps 0: unreachable");
  cluster.EndSession(absl::UnavailableError("reset"));
  simulator.RunFor(absl::Seconds(4));
  EXPECT_TRUE(ends.empty());
  EXPECT_GT(cluster.openings.size(), 4u);
  simulator.RunFor(absl::Seconds(3));
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_NE(ends[0].status.message().find("ps 0: unreachable"),
            std::string::npos)
      << ends[0].status;
  EXPECT_EQ(left, 1);
}

TEST_F(ClusterMemberTest, AResumptionThatIsRefusedEndsTheLifeAtOnce) {
  Start(false);
  simulator.RunFor(absl::Seconds(1));
  cluster.reachable = absl::FailedPreconditionError("life 1.1 is not known");
  cluster.EndSession(absl::UnavailableError("reset"));
  simulator.RunFor(absl::Milliseconds(100));
  EXPECT_EQ(left, 1);
}

TEST_F(ClusterMemberTest, AWorkerWhoseLifeIsOverJoinsAsANewOne) {
  Start(true);
  simulator.RunFor(absl::Seconds(1));
  cluster.EndSession(absl::DeadlineExceededError("you were silent"));
  simulator.RunFor(absl::Seconds(1));
  EXPECT_EQ(joined, (std::vector<Life>{{1, 1}, {1, 2}}));
  EXPECT_EQ(left, 1);
  EXPECT_TRUE(ends.empty());
}

TEST_F(ClusterMemberTest, AWorkerThatIsNotTakenBackIsLeftBehind) {
  for (const bool joined_before : {true, false}) {
    ends.clear();
    if (joined_before) {
      Start(true);
      simulator.RunFor(absl::Seconds(1));
      cluster.refuse = absl::FailedPreconditionError("you were lost");
      cluster.EndSession(absl::DeadlineExceededError("you were silent"));
    } else {
      Start(true);
    }
    simulator.RunFor(absl::Seconds(1));
    ASSERT_EQ(ends.size(), 1u);
    EXPECT_EQ(ends[0].status.message(), "cannot join the job: you were lost");
    EXPECT_EQ(ends[0].left_behind, joined_before);
    EXPECT_FALSE(ends[0].lost);
  }
}

TEST_F(ClusterMemberTest, APsWhoseLifeIsOverEndsWithTheReason) {
  Start(false);
  simulator.RunFor(absl::Seconds(1));
  cluster.EndSession(absl::DeadlineExceededError("you were silent"));
  simulator.RunFor(absl::Seconds(1));
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_EQ(ends[0].status.message(), "lost the coordinator: you were silent");
  EXPECT_TRUE(ends[0].lost);
  EXPECT_EQ(left, 1);
}

TEST_F(ClusterMemberTest, ASilentCoordinatorIsTakenForLost) {
  Start(true);
  simulator.RunFor(absl::Seconds(1));
  cluster.answer_heartbeats = false;
  cluster.refuse = absl::UnavailableError("frozen");
  simulator.RunFor(absl::Seconds(7));
  EXPECT_EQ(left, 1);
  simulator.RunFor(absl::Seconds(11));
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_TRUE(absl::IsUnavailable(ends[0].status));
  EXPECT_FALSE(ends[0].job_over) << "the coordinator did not say so";
  EXPECT_TRUE(ends[0].lost);
}

TEST_F(ClusterMemberTest, TheCoordinatorSaysWhetherTheJobLostAProcess) {
  for (const bool lost : {true, false}) {
    ends.clear();
    Start(true);
    simulator.RunFor(absl::Seconds(1));
    cluster.Tell(JobEnd{lost ? absl::UnavailableError("ps 1 died")
                             : absl::DataLossError("bad file"),
                        ""});
    simulator.RunFor(absl::Seconds(1));
    ASSERT_EQ(ends.size(), 1u);
    EXPECT_EQ(ends[0].lost, lost);
  }
}

TEST_F(ClusterMemberTest, AMemberThatWasFrozenGivesTheCoordinatorANewChance) {
  Start(false);
  simulator.RunFor(absl::Milliseconds(1500));
  strand.Freeze(absl::Seconds(30));
  simulator.RunFor(absl::Seconds(32));
  EXPECT_TRUE(ends.empty()) << ends[0].status;
  EXPECT_EQ(left, 0);
  // Patience is no deafness: a coordinator that stays silent is lost.
  cluster.answer_heartbeats = false;
  simulator.RunFor(absl::Seconds(8));
  EXPECT_EQ(left, 1);
}

TEST_F(ClusterMemberTest, TellsWhenWhatWasAcknowledgedWasSent) {
  Start(true);
  const absl::Time begin = simulator.Now();
  simulator.RunFor(absl::Milliseconds(1500));
  // The registration, and the heartbeats of 0 and 1 s.
  EXPECT_EQ(acknowledged,
            (std::vector<absl::Time>{begin, begin, begin + absl::Seconds(1)}));
  cluster.answer_heartbeats = false;
  simulator.RunFor(absl::Seconds(2));
  cluster.Tell(HeartbeatAck{3});  // of 2 s; that of 3 s is on its way
  cluster.Tell(HeartbeatAck{3});
  cluster.Tell(HeartbeatAck{9});
  simulator.RunFor(absl::ZeroDuration());
  ASSERT_EQ(acknowledged.size(), 4u);
  EXPECT_EQ(acknowledged.back(), begin + absl::Seconds(2));
}

TEST_F(ClusterMemberTest, EndsEvenIfItsByeIsNotAnswered) {
  Start(true);
  simulator.RunFor(absl::Seconds(1));
  cluster.answer_bye = false;
  cluster.Tell(JobEnd{absl::AbortedError("ps 1 was killed"), ""});
  simulator.RunFor(absl::Seconds(4));
  EXPECT_TRUE(ends.empty());
  simulator.RunFor(absl::Seconds(2));
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_EQ(ends[0].status.message(), "ps 1 was killed");
}

TEST_F(ClusterMemberTest, LeavesInGoodOrderWhateverItsState) {
  cluster.refuse = absl::UnavailableError("not yet");
  Start(true);
  simulator.RunFor(absl::Seconds(1));
  member->Leave();
  simulator.RunFor(absl::Seconds(2));
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_TRUE(ends[0].status.ok());
}

TEST_F(ClusterMemberTest, LeavesFromTheMiddleOfALife) {
  Start(true);
  simulator.RunFor(absl::Seconds(1));
  member->Leave();
  member->Leave();
  simulator.RunFor(absl::Seconds(1));
  EXPECT_EQ(cluster.byes, 1);
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_TRUE(ends[0].status.ok());
}

}  // namespace
}  // namespace shoal
