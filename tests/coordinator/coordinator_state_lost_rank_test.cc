// A ring of three ranks, each with a replica; ranks are lost.

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/coordinator/coordinator_state_generations_fixture.h"

namespace shoal {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// PSs 0 to 2, sessions 1 to 3, are in the processes of the workers 0 to 2,
// sessions 4 to 6. Worker 0 has the coordinator.
class CoordinatorStateRingGenerationsTest
    : public CoordinatorStateGenerationsTest {
 protected:
  CoordinatorStateRingGenerationsTest() {
    options_.ring = true;
    options_.num_workers = 3;
    options_.ps = {.count = 3, .replicated = 0};
    options_.process = "worker 0";
    options_.checkpoints.map.num_shards = 1;
    options_.checkpoints.map.replicated = 0;
    Restart();
  }

  RegisterRequest RankRequest(Role role, int index) const {
    RegisterRequest request = Request(role, index);
    request.address = "";
    if (role == Role::kWorker) {
      request.ring_address = "r" + std::to_string(index) + ":1";
    }
    return request;
  }
  void Begin() {
    sessions_ = 0;
    for (const Role role : {Role::kPs, Role::kWorker}) {
      for (int i = 0; i < 3; ++i) {
        const auto reply = state_->Register(RankRequest(role, i), now_);
        ASSERT_TRUE(reply.ok()) << reply.status();
        Do(state_->OpenSession(++sessions_, reply->life, now_));
      }
    }
  }
  void MarkOn(const std::vector<uint64_t>& ps, const Lease& lease) {
    for (const uint64_t session : ps) Mark1(session, lease, 0);
  }
  void Level(uint64_t session, uint64_t batches) {
    Tell(session, ReplicaLevel{Generation(session), batches});
  }
  // Both survivors of a loss of rank 2 are ready, and in the new ring.
  void ReadyBoth() {
    for (const uint64_t session : {4, 5}) Ready(session);
  }
  // The ranks train what they are given, until there is no more.
  void TrainAll(const std::vector<uint64_t>& ps,
                const std::vector<uint64_t>& workers) {
    for (int turn = 0; turn < 20; ++turn) {
      for (const uint64_t session : workers) {
        const size_t before = Grants(session);
        Tell(session, LeaseRequest{});
        if (Grants(session) == before) continue;
        const Lease lease = LastGrant(session);
        Report(session, lease, 10);
        if (!lease.Skips(0)) MarkOn(ps, lease);
        Tell(session, LeaseDone{lease.number});
      }
    }
  }
};

// The plant "dealt before the marks are settled" deals piece 1 a second time:
// its marks of PS 1 come after both replicas are level.
TEST_F(CoordinatorStateRingGenerationsTest, TheOthersGoOnWithoutALostRank) {
  Begin();
  std::vector<Lease> leases;
  for (const uint64_t session : {4, 5, 6}) {
    leases.push_back(Ask(session));
    Report(session, leases.back(), 10);
  }
  for (const Lease& lease : leases) MarkOn({1}, lease);
  EXPECT_EQ(state_->Report(now_).trained, 0u);
  Kill(3);  // the session of its replica
  EXPECT_EQ(ended_.count(6), 1u) << "they are lost together";
  EXPECT_TRUE(JobStatus().ok()) << Why();
  EXPECT_THAT(Logs(), HasSubstr("worker 2 died"));
  EXPECT_THAT(Logs(), HasSubstr("worker 2 can join again at the next start"));
  EXPECT_THAT(Heard<NewGeneration>(1), IsEmpty()) << "it is no server";
  Ready(4);
  EXPECT_THAT(Heard<ClusterView>(4), SizeIs(1));
  Ready(5);
  const ClusterView view = Newest<ClusterView>(4);
  EXPECT_EQ(view.generation, 2u);
  ASSERT_THAT(view.ranks, SizeIs(2));
  EXPECT_EQ(view.ranks[0].ring_address, "h:9") << "the new port";
  EXPECT_EQ(view.ranks[1].life, (Life{1, 5}));
  ASSERT_THAT(view.ps, SizeIs(3)) << "by index";
  EXPECT_EQ(view.ps[1].life, (Life{1, 2}));
  EXPECT_EQ(view.ps[2].life, Life{});
  for (const uint64_t session : {4, 5}) Tell(session, LeaseRequest{});
  Level(4, 3);
  Level(5, 3);
  EXPECT_EQ(Grants(4), 1u) << "the marks of worker 1's replica are on the way";
  for (int i = 0; i < 2; ++i) MarkOn({2}, leases[i]);
  EXPECT_EQ(Grants(4), 1u);
  MarkOn({2}, leases[2]);
  EXPECT_EQ(state_->Report(now_).trained, 30u);
  ASSERT_EQ(Grants(4), 2u);
  for (const uint64_t session : {4, 5}) {
    const Lease lease = LastGrant(session);
    EXPECT_GE(lease.piece.index, 3u);
    Report(session, lease, 10);
    MarkOn({1, 2}, lease);
    Tell(session, LeaseDone{lease.number});
  }
  TrainAll({1, 2}, {4, 5});
  const JobReport report = state_->Report(now_);
  EXPECT_EQ(report.trained, 60u);
  EXPECT_EQ(report.recomputed + report.mended, 0u);
}

TEST_F(CoordinatorStateRingGenerationsTest, AStepOfTheLostRankIsDealtAgain) {
  Begin();
  const Lease lease = Ask(6);
  MarkOn({3}, lease);
  Kill(6);
  ReadyBoth();
  Level(4, 0);
  Level(5, 0);
  TrainAll({1, 2}, {4, 5});
  const JobReport report = state_->Report(now_);
  EXPECT_EQ(report.trained, 60u);
  EXPECT_EQ(report.recomputed, 0u);
}

TEST_F(CoordinatorStateRingGenerationsTest, TheEndNeedsNoReportOfALostRank) {
  options_.checkpoints.save = false;
  Restart();
  Begin();
  Kill(6);
  ReadyBoth();
  Level(4, 0);
  Level(5, 0);
  TrainAll({1, 2}, {4, 5});
  ASSERT_THAT(Heard<ReportShard>(2), SizeIs(1));
  StatsReply stats;
  stats.digest = 0xab;
  stats.canary = CanaryStats{.rows = 6};
  Tell(1, ShardReport{stats});
  EXPECT_FALSE(state_->Report(now_).over);
  Tell(2, ShardReport{stats});
  const JobReport report = state_->Report(now_);
  EXPECT_EQ(report.status, absl::OkStatus());
  EXPECT_TRUE(report.over);
  EXPECT_EQ(report.digest, 0xabu);
  EXPECT_THAT(ShardReports(report), SizeIs(1));
}

TEST_F(CoordinatorStateRingGenerationsTest, ARankMayBeLostWhileOthersReport) {
  options_.checkpoints.save = false;
  Restart();
  Begin();
  TrainAll({1, 2, 3}, {4, 5, 6});
  ASSERT_THAT(Heard<ReportShard>(3), SizeIs(1));
  for (const uint64_t ps : {1, 2}) Tell(ps, ShardReport{});
  EXPECT_FALSE(state_->Report(now_).over);
  Kill(6);
  EXPECT_TRUE(state_->Report(now_).over);
  EXPECT_EQ(JobStatus(), absl::OkStatus());
}

TEST_F(CoordinatorStateRingGenerationsTest, TheFirstRankGoesOnAlone) {
  Begin();
  Kill(6);
  Ready(4);
  Kill(5);
  EXPECT_EQ(Generation(4), 3u);
  Ready(4);
  EXPECT_THAT(Newest<ClusterView>(4).ranks, SizeIs(1));
  Level(4, 0);
  TrainAll({1}, {4});
  EXPECT_EQ(state_->Report(now_).trained, 60u);
}

TEST_F(CoordinatorStateRingGenerationsTest, TheCoordinatorsRankEndsTheJob) {
  Begin();
  Kill(4);
  EXPECT_EQ(JobStatus().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(Why(), HasSubstr("it coordinates the job"));
  EXPECT_EQ(state_->Report(now_).first, "worker 0");
}

TEST_F(CoordinatorStateRingGenerationsTest, ALostRankJoinsAtTheNextStart) {
  Begin();
  Do(state_->OnConnectionLost(6, absl::UnavailableError("reset"), now_));
  now_ += absl::Seconds(1);
  for (const Role role : {Role::kWorker, Role::kPs}) {
    const auto reply = state_->Register(RankRequest(role, 2), now_);
    EXPECT_EQ(reply.status().code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(reply.status().message()),
                HasSubstr("worker 2 was lost, and the job goes on without it"));
  }
  Do(state_->Tick(now_));
  EXPECT_EQ(Generation(4), 2u);
}

TEST_F(CoordinatorStateRingGenerationsTest, AClosedRingPortIsADeath) {
  Begin();
  const CoordinatorActions actions =
      state_->OnConnectionLost(6, absl::UnavailableError("reset"), now_);
  bool probed = false;
  for (const CoordinatorAction& action : actions) {
    if (const auto* probe = std::get_if<ProbeAction>(&action)) {
      EXPECT_EQ(probe->address, "r2:1");
      EXPECT_EQ(probe->session, 6u);
      probed = true;
    }
  }
  EXPECT_TRUE(probed);
  Do(state_->OnProbed(6, true, now_));
  EXPECT_EQ(Generation(4), 2u);
  // So is one between two rings, when the ranks have no port for a ring.
  probed = false;
  for (const CoordinatorAction& action :
       state_->OnConnectionLost(5, absl::UnavailableError("reset"), now_)) {
    if (const auto* probe = std::get_if<ProbeAction>(&action)) {
      EXPECT_EQ(probe->address, "r1:1") << "the port of the first ring";
      probed = true;
    }
  }
  EXPECT_TRUE(probed);
  Do(state_->OnProbed(5, true, now_));
  EXPECT_EQ(Generation(4), 3u);
}

// The numbers of a rank's heartbeat are those of its ring.
TEST_F(CoordinatorStateRingGenerationsTest, StandingsNameNoRankOfTheLastRing) {
  Begin();
  RankStanding standing{7, "sums", "dense bucket 1 of 1", 1, 0.5};
  const auto beat = [&](uint64_t session) {
    Heartbeat heartbeat;
    heartbeat.standing = standing;
    Tell(session, std::move(heartbeat));
  };
  beat(6);
  Kill(5);  // worker 1
  EXPECT_THAT(Logs(), HasSubstr("worker 2 at step 7 sums dense bucket 1 of 1 "
                                "for 500ms, and nothing comes from worker 1"));
  // Rank 1 of the last ring is worker 1, and of the next one worker 2.
  beat(4);
  Kill(6);
  EXPECT_THAT(Logs(), Not(HasSubstr("nothing comes from worker 2")));
  EXPECT_THAT(Logs(), HasSubstr("worker 0 at step 7 sums dense bucket 1 of 1 "
                                "for 500ms; worker 2 "));
}

TEST_F(CoordinatorStateRingGenerationsTest, ReplicasThatAreNotLevelEndTheJob) {
  Begin();
  Kill(6);
  ReadyBoth();
  Level(4, 3);
  Level(5, 4);
  EXPECT_EQ(JobStatus().code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(Why(), HasSubstr("worker 0 and worker 1 hold copies of shard 0 "
                               "with different batches: 3 and 4"));
}

TEST_F(CoordinatorStateRingGenerationsTest, ABrokenRingIsMadeAnew) {
  Begin();
  Ask(4);
  Tell(4, RingBroken{1, 1, absl::UnavailableError("reset by peer")});
  EXPECT_THAT(Logs(), HasSubstr("the connection between worker 0 and worker 1 "
                                "broke (reset by peer)"));
  EXPECT_THAT(Heard<NewGeneration>(4), IsEmpty()) << "a loss may explain it";
  Pass(absl::Milliseconds(750), {1, 2, 3, 4, 5, 6});
  EXPECT_THAT(Heard<NewGeneration>(4), IsEmpty());
  Pass(absl::Milliseconds(250), {1, 2, 3, 4, 5, 6});
  for (const uint64_t session : {4, 5, 6}) EXPECT_EQ(Generation(session), 2u);
  Tell(5, RingBroken{1, 0, absl::UnavailableError("late")});
  for (const uint64_t session : {4, 5, 6}) Ready(session);
  for (const uint64_t session : {4, 5, 6}) Level(session, 0);
  TrainAll({1, 2, 3}, {4, 5, 6});
  EXPECT_EQ(state_->Report(now_).trained, 60u);
}

TEST_F(CoordinatorStateRingGenerationsTest, ARingThatBreaksThriceEndsTheJob) {
  for (const bool trains : {false, true}) {
    Restart();
    Begin();
    for (int time = 1; time <= 3; ++time) {
      Tell(5, RingBroken{static_cast<uint64_t>(time), 2,
                         absl::UnavailableError("reset by peer")});
      if (time == 3) break;
      Pass(absl::Seconds(1), {1, 2, 3, 4, 5, 6});
      for (const uint64_t session : {4, 5, 6}) Ready(session);
      for (const uint64_t session : {4, 5, 6}) Level(session, 0);
      if (time == 2 && trains) MarkOn({1, 2, 3}, Ask(4));
    }
    if (trains) {
      EXPECT_TRUE(JobStatus().ok()) << Why();
      continue;
    }
    EXPECT_EQ(JobStatus().code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(Why(), HasSubstr("the connection between worker 1 and worker 2 "
                                 "broke (reset by peer), 3 times in a row"));
  }
}

TEST_F(CoordinatorStateRingGenerationsTest, ALossExplainsABrokenRing) {
  Begin();
  Tell(4, RingBroken{1, 2, absl::UnavailableError("reset by peer")});
  Kill(6);
  EXPECT_EQ(Generation(4), 2u) << "at once";
  ReadyBoth();
  Pass(absl::Seconds(2), {1, 2, 4, 5});
  EXPECT_EQ(Generation(4), 2u);
}

TEST_F(CoordinatorStateRingGenerationsTest, TheRanksThatAreLeftSave) {
  Begin();
  Kill(6);
  ReadyBoth();
  Level(4, 0);
  Level(5, 0);
  const Lease lease = Ask(4);
  MarkOn({1, 2}, lease);
  Do(state_->RequestSave(1, now_));
  HoldWorkers({4, 5});
  for (const uint64_t ps : {1, 2}) {
    Tell(ps, Held{Newest<Hold>(ps).number, {1, 0, 5}});
  }
  const uint64_t save = Newest<SaveShard>(1).number;
  Tell(1, ShardWritten{save});
  ShardEntry entry;
  entry.marks = 1;
  entry.marks_digest = 5;
  entry.file.file = ShardFileName(0, 1);
  Tell(1, ShardSaved{save, absl::OkStatus(), ShardEntryToText(entry)});
  CommitIt();
  ASSERT_THAT(replies_, SizeIs(1));
  EXPECT_TRUE(replies_[0].saved.ok()) << replies_[0].saved.status();
  EXPECT_THAT(manifests_.back().shards, SizeIs(1));
}

}  // namespace
}  // namespace shoal
