// Two servers with the rows, and three ranks with a replica each of the rest;
// ranks are lost.

#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/coordinator/coordinator_state_generations_fixture.h"

namespace shoal {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// PSs 0 and 1, sessions 1 and 2, are the servers. PSs 2 to 4, sessions 3 to 5,
// are in the processes of the workers 0 to 2, sessions 6 to 8. PS 0 has the
// coordinator.
class CoordinatorStateHybridTest : public CoordinatorStateGenerationsTest {
 protected:
  CoordinatorStateHybridTest() {
    options_.ring = true;
    options_.num_workers = 3;
    options_.ps = {.count = 5, .replicated = 2};
    options_.process = "ps 0";
    options_.checkpoints.map.num_shards = 3;
    options_.checkpoints.map.replicated = 2;
    Restart();
  }

  void Begin() {
    sessions_ = 0;
    for (int i = 0; i < 5; ++i) {
      Open(Role::kPs, i, i < 2 ? "h" + std::to_string(i) + ":1" : "");
    }
    for (int i = 0; i < 3; ++i) Open(Role::kWorker, i, "");
  }
  void Open(Role role, int index, const std::string& address) {
    RegisterRequest request = Request(role, index);
    request.address = address;
    if (role == Role::kWorker) {
      request.ring_address = "r" + std::to_string(index) + ":1";
    }
    const auto reply = state_->Register(request, now_);
    ASSERT_TRUE(reply.ok()) << reply.status();
    Do(state_->OpenSession(++sessions_, reply->life, now_));
  }
  void MarkOn(const std::vector<uint64_t>& ps, const Lease& lease) {
    for (const uint64_t session : ps) Mark1(session, lease, 0);
  }
  void Level(uint64_t session, uint64_t batches) {
    Tell(session, ReplicaLevel{Generation(session), batches});
  }
  void ServerReady(uint64_t session) {
    Tell(session,
         GenerationReady{Newest<GenerationBegan>(session).number, "", 0});
  }
  // These ranks, with so many batches, and the servers end the change.
  void EndChange(const std::vector<uint64_t>& workers, uint64_t batches) {
    for (const uint64_t session : workers) Ready(session);
    for (const uint64_t session : {1, 2}) ServerReady(session);
    for (const uint64_t session : workers) Level(session, batches);
  }
  // A batch of each rank, which all servers and replicas have.
  void TrainAStep(const std::vector<uint64_t>& ps,
                  const std::vector<uint64_t>& workers) {
    for (const uint64_t session : workers) {
      const Lease lease = Ask(session);
      Report(session, lease, 10);
      MarkOn(ps, lease);
      Tell(session, LeaseDone{lease.number});
    }
  }
  // The ranks train what they are given, until there is no more.
  void TrainAll(const std::vector<uint64_t>& ps,
                const std::vector<uint64_t>& workers) {
    for (int turn = 0; turn < 8; ++turn) {
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
  std::string ShardText(int shard) {
    ShardEntry entry;
    entry.shard = shard;
    entry.marks = Marks();
    entry.marks_digest = 5;
    entry.file.file = ShardFileName(shard, 3);
    return ShardEntryToText(entry);
  }
  void Seal(const std::vector<uint64_t>& ps) {
    for (const uint64_t session : ps) {
      Tell(session, Held{Newest<Hold>(session).number, {Marks(), 0, 5}});
    }
  }
  void Sync(uint64_t session, int shard) {
    Tell(session, ShardSaved{Newest<SaveShard>(session).number,
                             absl::OkStatus(), ShardText(shard)});
  }
};

// Marks of rows that servers tell late belong to the step that was dropped: its
// batches are known to be half-marked before anything is dealt.
TEST_F(CoordinatorStateHybridTest, NothingIsDealtBeforeTheServersHaveTold) {
  Begin();
  const Lease lost = Ask(8);
  Report(8, lost, 10);
  const Lease kept = Ask(6);
  Report(6, kept, 10);
  MarkOn({1}, lost);  // the other server's mark is on its way
  Kill(5);
  EXPECT_TRUE(JobStatus().ok()) << Why();
  EXPECT_THAT(Logs(), HasSubstr("worker 2 died"));
  EXPECT_THAT(Logs(), HasSubstr("worker 2 can join again at the next start"));
  for (const uint64_t session : {1, 2}) {
    EXPECT_THAT(Heard<NewGeneration>(session), IsEmpty());
  }
  Ready(6);
  EXPECT_THAT(Heard<GenerationBegan>(1), IsEmpty())
      << "worker 1 may still push";
  Ready(7);
  const GenerationBegan began = Newest<GenerationBegan>(2);
  EXPECT_EQ(began.number, 2u);
  EXPECT_EQ(began.leases, kept.number);
  EXPECT_THAT(Heard<GenerationBegan>(3), IsEmpty()) << "it is a replica";
  for (const uint64_t session : {6, 7}) Tell(session, LeaseRequest{});
  for (const uint64_t session : {6, 7}) Level(session, 0);
  ServerReady(1);
  EXPECT_EQ(Grants(6), 1u) << "server 1 has not told its marks";
  MarkOn({2}, kept);
  ServerReady(2);
  // The two batches that a server has come before all others.
  ASSERT_EQ(Grants(6), 2u);
  ASSERT_EQ(Grants(7), 1u);
  std::vector<uint32_t> pieces;
  for (const uint64_t session : {6, 7}) {
    const Lease lease = LastGrant(session);
    EXPECT_TRUE(lease.skip_rest);
    pieces.push_back(lease.piece.index);
  }
  EXPECT_THAT(pieces, testing::UnorderedElementsAre(lost.piece.index,
                                                    kept.piece.index));
  for (const uint64_t session : {6, 7}) {
    const Lease lease = LastGrant(session);
    const bool first = lease.piece.index == lost.piece.index;
    MarkOn({first ? 2u : 1u, 3u, 4u}, lease);
    Tell(session, LeaseDone{lease.number});
  }
  EXPECT_EQ(state_->Report(now_).mended, 2u);
  TrainAll({1, 2, 3, 4}, {6, 7});
  const JobReport report = state_->Report(now_);
  EXPECT_EQ(report.trained, 60u);
  EXPECT_EQ(report.ranks_lost, 1u);
  EXPECT_EQ(report.generations, 2u);
}

TEST_F(CoordinatorStateHybridTest, AnyRankMayBeLostButNotTheLastOne) {
  Begin();
  Kill(6);
  EndChange({7, 8}, 0);
  TrainAStep({1, 2, 4, 5}, {7, 8});
  Kill(8);
  EndChange({7}, 2);
  TrainAStep({1, 2, 4}, {7});
  EXPECT_TRUE(JobStatus().ok()) << Why();
  Kill(4);  // the replica of worker 1
  EXPECT_EQ(JobStatus().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(Why(), HasSubstr("worker 1 died"));
  EXPECT_THAT(Why(), HasSubstr("no other worker has a copy"));
  EXPECT_EQ(state_->Report(now_).first, "worker 1");
}

TEST_F(CoordinatorStateHybridTest, TheLastCopyIsNeededForTheReportToo) {
  options_.checkpoints.save = false;
  Restart();
  Begin();
  TrainAll({1, 2, 3, 4, 5}, {6, 7, 8});
  ASSERT_THAT(Heard<ReportShard>(3), SizeIs(1));
  Kill(6);
  Kill(7);
  EXPECT_FALSE(state_->Report(now_).over);
  Kill(8);
  EXPECT_EQ(JobStatus().code(), absl::StatusCode::kUnavailable);
}

TEST_F(CoordinatorStateHybridTest, ALostServerEndsTheJobAndIsNamed) {
  for (const bool changing : {false, true}) {
    Restart();
    Begin();
    if (changing) Kill(8);
    Kill(2);
    EXPECT_EQ(JobStatus().code(), absl::StatusCode::kUnavailable);
    EXPECT_THAT(Why(), HasSubstr("ps 1 (h1:1) died"));
  }
}

// Worker 0 writes the replicated shard, and is lost while it syncs.
TEST_F(CoordinatorStateHybridTest, ASaveThatALostRankWasToWriteIsDoneAgain) {
  Begin();
  TrainAStep({1, 2, 3, 4, 5}, {6, 7, 8});
  Do(state_->RequestSave(1, now_));
  HoldWorkers({6, 7, 8});
  Seal({1, 2, 3, 4, 5});
  for (const uint64_t session : {1, 2, 3}) {
    Tell(session, ShardWritten{Newest<SaveShard>(session).number});
  }
  Sync(1, 0);
  Sync(2, 1);
  Kill(6);
  EXPECT_THAT(replies_, IsEmpty()) << "the request waits for the next save";
  EXPECT_THAT(Heard<Hold>(7), SizeIs(1)) << "not while the ranks change";
  EndChange({7, 8}, 3);
  HoldWorkers({7, 8});
  Seal({1, 2, 4, 5});
  for (const uint64_t session : {1, 2, 4}) {
    Tell(session, ShardWritten{Newest<SaveShard>(session).number});
  }
  Sync(1, 0);
  Sync(2, 1);
  Sync(4, 2);
  CommitIt();
  ASSERT_THAT(replies_, SizeIs(1));
  EXPECT_TRUE(replies_[0].saved.ok()) << replies_[0].saved.status();
  EXPECT_THAT(manifests_.back().shards, SizeIs(3));
  TrainAll({1, 2, 4, 5}, {7, 8});
  EXPECT_EQ(state_->Report(now_).trained, 60u);
}

// The ranks stand still, and none can train a batch alone.
TEST_F(CoordinatorStateHybridTest, RowsWithoutTheirStepVoidASave) {
  Begin();
  const Lease lease = Ask(8);
  Do(state_->RequestSave(1, now_));
  HoldWorkers({6, 7, 8});
  MarkOn({1}, lease);
  Seal({1, 2, 3, 4, 5});
  ASSERT_THAT(replies_, SizeIs(1));
  EXPECT_THAT(std::string(replies_[0].saved.status().message()),
              HasSubstr("not every shard has"));
  for (const uint64_t session : {6, 7, 8}) {
    EXPECT_THAT(Heard<Resume>(session), SizeIs(1));
    EXPECT_EQ(Grants(session), session == 8 ? 1u : 0u);
  }
}

}  // namespace
}  // namespace shoal
