// Servers apply the steps of all workers; workers are lost and come back.

#include <map>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/coordinator/coordinator_state_generations_fixture.h"

namespace shoal {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

// Sessions 1 and 2 are the PSs; 3, 4 and 5 the ranks 0, 1 and 2.
class CoordinatorStateStepGenerationsTest
    : public CoordinatorStateGenerationsTest {
 protected:
  CoordinatorStateStepGenerationsTest() {
    options_.backup_workers = 0;
    options_.num_workers = 3;
    Restart();
  }

  void Begin() {
    JoinAll();
    Join(Role::kWorker, 2);
  }
  Life LifeOf(uint64_t session) const {
    return {1, static_cast<uint32_t>(session)};
  }
  void Park(uint64_t session, uint64_t step, const Lease& lease,
            uint32_t index) {
    Tell(1, StepParked{step, LifeOf(session),
                       {{lease.epoch, lease.piece.index, index},
                        lease.number, 10, false}});
  }
  void ReadyAll(const std::vector<uint64_t>& workers, uint64_t steps = 0) {
    for (const uint64_t session : workers) Ready(session);
    for (const uint64_t ps : {1, 2}) Ready(ps, steps);
  }
  // The ranks train what they are given, step by step, from this step on.
  void TrainAll(const std::vector<uint64_t>& workers, uint64_t step) {
    std::map<uint64_t, size_t> seen;
    std::set<uint64_t> waiting;
    for (const uint64_t session : workers) seen[session] = Grants(session);
    for (int turn = 0; turn < 20; ++turn) {
      std::vector<std::pair<uint64_t, Lease>> open;
      for (const uint64_t session : workers) {
        if (waiting.insert(session).second) Tell(session, LeaseRequest{});
        if (Grants(session) == seen[session]) continue;
        const Lease lease = LastGrant(session);
        if (lease.purpose != LeasePurpose::kTrain) return;
        seen[session] = Grants(session);
        waiting.erase(session);
        if (lease.Skips(0)) {
          if (!lease.empty()) Report(session, lease, 10);
          Tell(session, LeaseDone{lease.number});
        } else {
          open.push_back({session, lease});
        }
      }
      for (const auto& [session, lease] : open) {
        Report(session, lease, 10);
        Park(session, step, lease, 0);
      }
      if (!open.empty()) ++step;
      for (const auto& [session, lease] : open) {
        MarkBoth(lease, 0);
        Tell(session, LeaseDone{lease.number});
      }
    }
  }
};

TEST_F(CoordinatorStateStepGenerationsTest, TheOthersGoOnWithoutALostWorker) {
  Begin();
  for (const uint64_t session : {3, 4, 5}) Ask(session);
  RankStanding standing{1, "computes", "", -1, 0.5};
  Heartbeat beat;
  beat.standing = standing;
  Tell(3, beat);
  Kill(5);
  EXPECT_TRUE(JobStatus().ok()) << Why();
  EXPECT_THAT(Logs(),
              AllOf(HasSubstr("worker 2 died: its session ended before it left "
                              "the job (reset); the other workers go on"),
                    HasSubstr("when it was lost: worker 0 at step 1 computes "
                              "for 500ms; worker 1 has not told")));
  for (const uint64_t session : {1, 2, 3, 4}) {
    EXPECT_EQ(Generation(session), 2u);
  }
  // No answer is enough before all have answered.
  for (const uint64_t session : {1, 3, 2}) {
    Ready(session, session < 3 ? 0 : 7);
    EXPECT_THAT(Heard<GenerationBegan>(1), IsEmpty());
    EXPECT_THAT(Heard<ClusterView>(3), SizeIs(1));
  }
  AskInVain(3);
  Ready(4);
  for (const uint64_t ps : {1, 2}) {
    EXPECT_THAT(Newest<GenerationBegan>(ps).workers,
                ElementsAre(LifeOf(3), LifeOf(4)));
  }
  for (const uint64_t session : {3, 4}) {
    EXPECT_EQ(Newest<ClusterView>(session).generation, 2u);
    EXPECT_THAT(Newest<ClusterView>(session).ranks, IsEmpty());
  }
  EXPECT_EQ(Grants(3), 2u) << "the request after its answer counts";
  EXPECT_THAT(Logs(), HasSubstr("the job goes on with 2 workers"));
  EXPECT_THAT(Heard<Hold>(3), IsEmpty());
  Tell(3, LeaseDone{LastGrant(3).number});
  TrainAll({3, 4}, 1);
}

// The plant "leases of the old generation stay" leaves a lane of the lost rank
// open, and the job hangs; "leases are not forgotten" trains a batch twice.
TEST_F(CoordinatorStateStepGenerationsTest, EveryBatchIsTrainedOnce) {
  options_.checkpoints.save = false;
  Restart();
  Begin();
  for (const uint64_t session : {3, 4, 5}) {
    const Lease lease = Ask(session);
    Report(session, lease, 10);
    Park(session, 1, lease, 0);
    if (session == 5) {
      for (uint64_t s = 3; s <= 5; ++s) MarkBoth(LastGrant(s), 0);
    }
  }
  Kill(4);
  ReadyAll({3, 5}, 1);
  TrainAll({3, 5}, 2);
  const JobReport report = state_->Report(now_);
  EXPECT_EQ(report.trained, 60u);
  EXPECT_EQ(report.recomputed + report.mended, 0u);
  EXPECT_EQ(report.generations, 2u);
  EXPECT_EQ(report.ranks_lost, 1u);
  EXPECT_THAT(Heard<ReportShard>(1), SizeIs(1));
}

TEST_F(CoordinatorStateStepGenerationsTest, LateWordsOfOldLeasesAreIgnored) {
  Begin();
  const Lease lease0 = Ask(3);
  Ask(4);
  Ask(5);
  Kill(5);
  Tell(3, LeaseRequest{});
  Tell(3, LeaseDone{lease0.number});
  Tell(4, LeaseFailed{LastGrant(4).number, absl::NotFoundError("gone")});
  Tell(4, StepsFinished{3});
  EXPECT_TRUE(JobStatus().ok()) << Why();
  EXPECT_TRUE(ended_.count(4) == 0);
  ReadyAll({3, 4});
  EXPECT_EQ(Grants(3), 1u) << "its request was of the old generation";
  Tell(3, LeaseDone{lease0.number});
  AskInVain(5);
  EXPECT_EQ(Ask(3).piece.index, 0u) << "the piece is dealt again";
}

TEST_F(CoordinatorStateStepGenerationsTest, AnAnswerToAnOlderNumberIsNone) {
  Begin();
  Kill(5);
  Ready(3);
  Ready(1);
  Kill(4);
  EXPECT_EQ(Generation(3), 3u);
  Tell(1, GenerationReady{2, "", 0});
  Tell(2, GenerationReady{2, "", 0});
  Tell(3, GenerationReady{2, "", 0});
  EXPECT_THAT(Heard<GenerationBegan>(1), IsEmpty());
  ReadyAll({3});
  EXPECT_EQ(Newest<GenerationBegan>(2).number, 3u);
  EXPECT_THAT(Newest<GenerationBegan>(2).workers, ElementsAre(LifeOf(3)));
  Tell(3, GenerationReady{9, "", 0});
  EXPECT_EQ(ended_.count(3), 1u) << "there is no such generation";
}

TEST_F(CoordinatorStateStepGenerationsTest, TheLostBatchesOfTheStepAreNamed) {
  Begin();
  std::vector<Lease> leases;
  for (const uint64_t session : {3, 4, 5}) {
    leases.push_back(Ask(session));
    Park(session, 1, leases.back(), 0);
  }
  Do(state_->OnConnectionLost(4, absl::UnavailableError("reset"), now_));
  EXPECT_THAT(Heard<NewGeneration>(1), IsEmpty());
  Kill(4);
  Kill(5);
  EXPECT_THAT(Newest<NewGeneration>(1).lost,
              ElementsAre((BatchId{0, leases[1].piece.index, 0}),
                          (BatchId{0, leases[2].piece.index, 0})))
      << "of both that are lost";
  EXPECT_THAT(Newest<NewGeneration>(3).lost, IsEmpty());
}

// PS 1 lacks a batch of the lost worker. The plant "dealt before it is settled"
// is seen in the ring, whose replicas tell their marks by other sessions.
TEST_F(CoordinatorStateStepGenerationsTest, AHalfMarkedBatchIsTrainedFirst) {
  Begin();
  std::vector<Lease> leases;
  for (const uint64_t session : {3, 4, 5}) {
    leases.push_back(Ask(session));
    Report(session, leases.back(), 10);
    Park(session, 1, leases.back(), 0);
  }
  Kill(5);
  for (int i = 0; i < 2; ++i) MarkBoth(leases[i], 0);
  Mark1(1, leases[2], 0);
  ReadyAll({3, 4}, 1);
  Do(state_->RequestSave(1, now_));
  EXPECT_THAT(Heard<Hold>(3), IsEmpty()) << "a batch is on ps 0 alone";
  const Lease mend = Ask(3);
  EXPECT_EQ(mend.piece.index, leases[2].piece.index);
  const Lease empty = Ask(4);
  EXPECT_TRUE(empty.empty());
  Tell(4, LeaseDone{empty.number});
  Park(3, 2, mend, 0);
  EXPECT_EQ(Newest<StepClosed>(1).step, 2u)
      << "the steps go on after those that are applied";
  Mark1(2, mend, 0);
  EXPECT_EQ(state_->Report(now_).mended, 1u);
  EXPECT_EQ(state_->Report(now_).trained, 30u);
  Tell(3, LeaseDone{mend.number});
  EXPECT_THAT(Heard<Hold>(3), SizeIs(1)) << "now it can be saved";
  AskInVain(4);
  SaveAll();
  EXPECT_FALSE(LastGrant(4).empty()) << "the rest of the epoch";
}

TEST_F(CoordinatorStateStepGenerationsTest, ServersWithOtherStepsEndTheJob) {
  Begin();
  Kill(5);
  for (const uint64_t session : {3, 4}) Ready(session);
  Ready(1, 4);
  Ready(2, 5);
  EXPECT_EQ(JobStatus().code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(Why(), HasSubstr("ps 1 has applied 5 steps, ps 0 4"));
}

TEST_F(CoordinatorStateStepGenerationsTest, AWorkerComesBackInItsPlace) {
  Begin();
  Ask(3);
  Do(state_->OnConnectionLost(5, absl::UnavailableError("reset"), now_));
  now_ += absl::Seconds(1);
  const uint64_t back = Join(Role::kWorker, 2);
  EXPECT_THAT(Logs(), HasSubstr("worker 2 died: its connection broke, and "
                                "another process took its place"));
  EXPECT_EQ(back, 6u);
  EXPECT_THAT(Heard<ClusterView>(6), SizeIs(1));
  EXPECT_EQ(Generation(6), 2u);
  ReadyAll({3, 4, 6});
  EXPECT_THAT(Newest<GenerationBegan>(1).workers,
              ElementsAre(LifeOf(3), LifeOf(4), LifeOf(6)));
  EXPECT_EQ(Newest<ClusterView>(6).generation, 2u);
  TrainAll({3, 4, 6}, 1);
  EXPECT_EQ(state_->Report(now_).trained, 60u);
}

TEST_F(CoordinatorStateStepGenerationsTest, AWorkerThatComesBackSpoilsNoSave) {
  Begin();
  Kill(5);
  ReadyAll({3, 4});
  const Lease lease0 = Ask(3);
  const Lease lease1 = Ask(4);
  Do(state_->RequestSave(1, now_));
  Park(3, 1, lease0, 0);
  Join(Role::kWorker, 2);
  EXPECT_THAT(Heard<NewGeneration>(6), IsEmpty());
  Park(4, 1, lease1, 0);
  MarkBoth(lease0, 0);
  MarkBoth(lease1, 0);
  HoldWorkers({3, 4, 6});
  HoldShards();
  EXPECT_THAT(Heard<NewGeneration>(6), IsEmpty());
  WriteShards();
  Do(state_->Tick(now_));
  EXPECT_EQ(Generation(6), 3u);
  SyncShards();
  CommitIt();
  ASSERT_THAT(replies_, SizeIs(1));
  EXPECT_TRUE(replies_[0].saved.ok());
}

TEST_F(CoordinatorStateStepGenerationsTest, WithoutAWorkerTheJobWaitsForOne) {
  Begin();
  for (const uint64_t session : {3, 4, 5}) Kill(session);
  for (const uint64_t ps : {1, 2}) Ready(ps);
  EXPECT_THAT(Heard<GenerationBegan>(1), IsEmpty());
  Pass(absl::Seconds(100), {1, 2});
  EXPECT_TRUE(JobStatus().ok()) << Why();
  const uint64_t back = Join(Role::kWorker, 1);
  ReadyAll({back});
  EXPECT_THAT(Newest<GenerationBegan>(1).workers, ElementsAre(LifeOf(back)));
  TrainAll({back}, 1);
  EXPECT_EQ(state_->Report(now_).trained, 60u);
}

TEST_F(CoordinatorStateStepGenerationsTest, AJobThatNoWorkerJoinsEndsAsLost) {
  Begin();
  for (const uint64_t session : {3, 4, 5}) Kill(session);
  Pass(absl::Seconds(121), {1, 2});
  EXPECT_EQ(JobStatus().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(Why(), HasSubstr("no worker is alive"));
}

TEST_F(CoordinatorStateStepGenerationsTest, ASaveThatALossSpoilsIsMadeAgain) {
  options_.num_epochs = 2;
  Restart();
  Begin();
  std::vector<Lease> leases;
  for (const uint64_t session : {3, 4, 5}) leases.push_back(Ask(session));
  Do(state_->RequestSave(1, now_));
  for (size_t i = 0; i < 3; ++i) Park(3 + i, 1, leases[i], 0);
  for (const Lease& lease : leases) MarkBoth(lease, 0);
  HoldWorkers({3, 4});
  heard_[3].clear();
  Kill(5);
  // Resume comes first, so that the worker can answer.
  ASSERT_THAT(heard_[3], SizeIs(2));
  EXPECT_TRUE(std::holds_alternative<Resume>(heard_[3][0]));
  EXPECT_TRUE(std::holds_alternative<NewGeneration>(heard_[3][1]));
  EXPECT_THAT(Heard<StepsReleased>(1), SizeIs(1));
  EXPECT_THAT(replies_, IsEmpty());
  Pass(absl::Seconds(1), {1, 2, 3, 4});
  EXPECT_THAT(Heard<Hold>(3), IsEmpty()) << "the workers change";
  ReadyAll({3, 4}, 1);
  SaveAll();
  ASSERT_THAT(replies_, SizeIs(1));
  EXPECT_TRUE(replies_[0].saved.ok()) << replies_[0].saved.status();
  EXPECT_EQ(manifests_.back().step, 3u);
}

TEST_F(CoordinatorStateStepGenerationsTest, AStopSavesAfterTheChange) {
  Begin();
  for (const uint64_t session : {3, 4, 5}) Ask(session);
  Do(state_->SaveAndStop(absl::CancelledError("stop"), now_));
  Kill(5);
  EXPECT_TRUE(JobStatus().ok());
  ReadyAll({3, 4});
  SaveAll();
  EXPECT_EQ(JobStatus().code(), absl::StatusCode::kCancelled);
  EXPECT_THAT(Why(), HasSubstr("saved m/ckpt"));
}

TEST_F(CoordinatorStateStepGenerationsTest, AStopDoesNotWaitForAWorker) {
  Begin();
  for (const uint64_t session : {3, 4, 5}) Kill(session);
  Do(state_->SaveAndStop(absl::CancelledError("stop"), now_));
  Pass(absl::Seconds(30), {1, 2});
  EXPECT_EQ(JobStatus().code(), absl::StatusCode::kAborted);
  EXPECT_THAT(Why(), HasSubstr("the last checkpoint is lost: the workers of "
                               "the job changed"));
}

TEST_F(CoordinatorStateStepGenerationsTest, ALossDuringAnEvaluation) {
  SetFiles(3);
  eval_ = {{"e0", 100, 7}, {"e1", 100, 8}};
  options_.checkpoints.save = false;
  Restart();
  Begin();
  TrainAll({3, 4, 5}, 1);
  const Lease whole = LastGrant(3);
  EXPECT_EQ(whole.purpose, LeasePurpose::kEvaluate);
  const auto score = [&](uint64_t session, const Lease& lease, bool more) {
    EvalResult result;
    result.lease = lease.number;
    result.epoch = lease.epoch;
    result.piece = lease.piece.index;
    result.more = more;
    result.logits = {0.5f};
    result.labels = {static_cast<uint8_t>(session % 2)};
    Tell(session, result);
  };
  const Lease other = Ask(4);
  ASSERT_EQ(other.purpose, LeasePurpose::kEvaluate);
  score(3, whole, false);
  score(4, other, true);
  Kill(5);
  score(4, other, false);  // of the old generation
  Tell(4, LeaseDone{other.number});
  AskInVain(3);
  ReadyAll({3, 4}, 1);
  const Lease again = Ask(3);
  EXPECT_EQ(again.piece.index, other.piece.index);
  AskInVain(4);
  score(3, again, false);
  EXPECT_THAT(Heard<ReportShard>(1), SizeIs(1));
}

TEST_F(CoordinatorStateStepGenerationsTest, FewerWorkersHaveFewerBackups) {
  options_.backup_workers = 2;
  Restart();
  Begin();
  Kill(5);
  ReadyAll({3, 4});
  EXPECT_THAT(Logs(), HasSubstr("with 2 workers, a step does without 1 of them "
                                "at most (--backup_workers=2)"));
  const Lease lease = Ask(3);
  Ask(4);
  Park(3, 1, lease, 0);
  EXPECT_THAT(Newest<StepClosed>(1).batches, SizeIs(1));
  Join(Role::kWorker, 2);
  ReadyAll({3, 4, 6}, 1);
  EXPECT_THAT(Logs(), HasSubstr("with 3 workers, a step does without 2"));
}

TEST_F(CoordinatorStateStepGenerationsTest, AProcessThatDoesNotAnswerIsNamed) {
  Begin();
  Kill(5);
  Ready(3);
  Ready(1);
  Pass(absl::Minutes(11), {1, 2, 3, 4});
  EXPECT_EQ(JobStatus().code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(Why(), HasSubstr("the workers change: ps 1 (h1:1), worker 1 did "
                               "not end the step that was open"));
}

TEST_F(CoordinatorStateStepGenerationsTest, AJobThatTrainsNothingSaysWhy) {
  Begin();
  for (const uint64_t session : {3, 4, 5}) Ask(session);
  Pass(absl::Seconds(9), {1, 2, 3, 4, 5});
  EXPECT_THAT(Logs(), Not(HasSubstr("no batch was trained")));
  Pass(absl::Seconds(2), {1, 2, 3, 4, 5});
  EXPECT_THAT(Logs(), HasSubstr("no batch was trained for 10s: worker 0 has "
                                "not told what it does; worker 1"));
}

}  // namespace
}  // namespace shoal
