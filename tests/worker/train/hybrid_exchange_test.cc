// Ranks of --mode=hybrid over LocalCollective, each with a real replica of the
// dense variables, and over real parameter servers with the rows, whose calls
// take random times. The oracle is a serial loop that pushes the rows of each
// batch by themselves.
#include "worker/train/hybrid_exchange.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/harness/seeds.h"
#include "tests/harness/simulated_executor.h"
#include "tests/worker/train/ring_rank.h"
#include "worker/collective/local_collective.h"

namespace shoal {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;

RingJob HybridJob(OptimizerKind kind, RingLanes lanes, int servers = 2) {
  OptimizerSpec optimizer;
  optimizer.kind = kind;
  optimizer.learning_rate = 0.0625f;
  RingJob job;
  job.model.field_size = 4;
  job.model.feature_size = 48;
  job.model.embedding_size = 3;
  job.model.deep_layers = {8, 4};
  job.model.dense_optimizer = job.model.table_optimizer = optimizer;
  job.servers = servers;
  job.apart_in_step = true;
  job.lanes = std::move(lanes);
  return job;
}

// Two epochs in which the lanes end at different steps, and one has no batch.
RingLanes UnequalLanes() {
  return {{{3, 3, 3}, {5, 1}, {4, 4, 4, 4, 4, 2}}, {{2}, {}, {3, 3, 1}}};
}

// All ranks and servers of a job on one simulated thread, and the epochs'
// barrier.
class HybridWorld {
 public:
  HybridWorld(const RingJob& job, uint64_t seed,
              Reduction reduction = Reduction::kRankOrder)
      : job_(job), simulator_(seed), random_(seed) {
    std::vector<Executor*> executors;
    for (int rank = 0; rank < job_.ranks(); ++rank) {
      strands_.push_back(std::make_unique<SimulatedExecutor>(
          &simulator_, absl::StrCat("rank ", rank)));
      executors.push_back(strands_.back().get());
    }
    servers_ = MakeRingServers(job_, &server_strand_);
    auto collectives =
        MakeLocalCollectives({.reduction = reduction}, executors);
    for (int rank = 0; rank < job_.ranks(); ++rank) {
      ranks_.push_back(std::make_unique<RingRank>(
          &job_, rank, std::move(collectives[rank]), executors[rank],
          executors[rank], seed, servers_));
    }
  }
  ~HybridWorld() {
    for (const auto& strand : strands_) strand->Kill();
  }

  RingRank& rank(int rank) { return *ranks_[rank]; }
  ParameterShard& server(int server) { return *servers_[server]; }
  Simulator& simulator() { return simulator_; }
  void Send(int rank, std::function<void(RingRank&)> task) {
    strands_[rank]->PostAfter(
        absl::Microseconds(random_() % 20'000),
        [to = ranks_[rank].get(), task = std::move(task)] { task(*to); });
  }
  void SendAll(const std::function<void(RingRank&)>& task) {
    for (int rank = 0; rank < job_.ranks(); ++rank) Send(rank, task);
  }
  void Begin(uint32_t epoch) {
    SendAll([epoch](RingRank& r) { r.BeginEpoch(epoch); });
  }
  bool RunUntil(absl::FunctionRef<bool()> done) {
    return simulator_.RunUntil(done, simulator_.Now() + absl::Hours(1));
  }
  uint64_t ServerMarks(int server) {
    const MarkTotals totals = servers_[server]->TotalMarks();
    return totals.applied + totals.rejected;
  }
  // Every server and every replica has this many batches.
  bool AllHave(uint64_t batches) {
    for (int s = 0; s < job_.servers; ++s) {
      if (ServerMarks(s) != batches) return false;
    }
    return std::all_of(ranks_.begin(), ranks_.end(), [&](const auto& rank) {
      return rank->marked() == batches;
    });
  }
  bool Complete(uint32_t epoch) {
    uint64_t batches = 0;
    for (uint32_t e = 0; e <= epoch; ++e) {
      for (const std::vector<int>& lane : job_.lanes[e]) batches += lane.size();
    }
    return AllHave(batches) &&
           std::all_of(ranks_.begin(), ranks_.end(),
                       [](const auto& rank) { return rank->lane_done(); });
  }
  // Trains all epochs. False: it does not end.
  bool Run() {
    for (uint32_t epoch = 0; epoch < job_.lanes.size(); ++epoch) {
      Begin(epoch);
      if (!RunUntil([&] { return Complete(epoch); })) return false;
    }
    return true;
  }
  StatsReply StatsOf(ParameterShard& shard, StatsRequest request) {
    StatsReply stats;
    bool done = false;
    shard.Stats(std::move(request), absl::Seconds(1),
                [&](absl::StatusOr<StatsReply> reply) {
                  EXPECT_TRUE(reply.ok()) << reply.status();
                  if (reply.ok()) stats = *std::move(reply);
                  done = true;
                });
    EXPECT_TRUE(RunUntil([&] { return done; }));
    return stats;
  }
  // The model's, with the replica of each rank in turn.
  std::vector<uint64_t> Digests() {
    uint64_t rows = 0;
    for (int s = 0; s < job_.servers; ++s) {
      rows += StatsOf(*servers_[s], ServerStats(s)).digest;
    }
    std::vector<uint64_t> digests;
    for (int rank = 0; rank < job_.ranks(); ++rank) {
      digests.push_back(
          rows + StatsOf(ranks_[rank]->replica(), RingStats(rank)).digest);
    }
    return digests;
  }

 private:
  const RingJob job_;
  Simulator simulator_;
  std::mt19937_64 random_;
  SimulatedExecutor server_strand_{&simulator_, "servers"};
  std::vector<std::unique_ptr<SimulatedExecutor>> strands_;
  RingServers servers_;
  std::vector<std::unique_ptr<RingRank>> ranks_;
};

// Pulls see the rows of all steps before, and of no later one: otherwise the
// gradients would be others.
TEST(HybridExchangeTest, StepsHaveTheBitsOfASerialLoop) {
  for (const OptimizerKind kind :
       {OptimizerKind::kSgd, OptimizerKind::kAdagrad}) {
    for (int servers = 1; servers <= 3; ++servers) {
      const RingJob job = HybridJob(kind, UnequalLanes(), servers);
      for (uint64_t seed = 1; seed <= Seeds(20); ++seed) {
        SCOPED_TRACE(absl::StrCat(servers, " servers, seed ", seed));
        HybridWorld world(job, seed);
        ASSERT_TRUE(world.Run());
        EXPECT_THAT(world.Digests(), Each(SerialDigest(job)));
        EXPECT_EQ(world.rank(0).applied(), 4u);
        EXPECT_EQ(world.rank(1).applied(), 2u);
        EXPECT_EQ(world.rank(2).applied(), 9u);
      }
    }
  }
}

TEST(HybridExchangeTest, AReplicaHasABatchOnlyWhenAllServersHaveIt) {
  for (uint64_t seed = 1; seed <= Seeds(20); ++seed) {
    RingJob job = HybridJob(OptimizerKind::kSgd, {UnequalLanes()[0]});
    job.failures = seed % 2 == 0 ? 0 : 20;
    HybridWorld world(job, seed);
    world.Begin(0);
    bool ahead = false;
    ASSERT_TRUE(world.RunUntil([&] {
      for (int rank = 0; rank < 3; ++rank) {
        for (int s = 0; s < 2; ++s) {
          ahead |= world.rank(rank).marked() > world.ServerMarks(s);
        }
      }
      return world.Complete(0);
    }));
    EXPECT_FALSE(ahead) << "seed " << seed;
  }
}

// Adam counts a batch on the servers and a step on the replicas.
TEST(HybridExchangeTest, OneRankHasTheBitsOfASerialLoop) {
  for (const OptimizerKind kind :
       {OptimizerKind::kSgd, OptimizerKind::kAdagrad, OptimizerKind::kAdam}) {
    const RingJob job = HybridJob(kind, {{{3, 5, 1, 7}}, {{2, 2}}});
    HybridWorld world(job, 1);
    ASSERT_TRUE(world.Run());
    EXPECT_THAT(world.Digests(), Each(SerialDigest(job)));
  }
}

TEST(HybridExchangeTest, ReplicasAreEqualWhenRanksShareRows) {
  RingJob job = HybridJob(OptimizerKind::kAdam, UnequalLanes());
  job.apart_in_step = false;
  for (const Reduction reduction : {Reduction::kFast, Reduction::kRankOrder}) {
    HybridWorld world(job, 1, reduction);
    ASSERT_TRUE(world.Run());
    EXPECT_THAT(world.Digests(), Each(world.Digests()[0]));
  }
}

// Sums of the linear probe are exact in any order.
TEST(HybridExchangeTest, AModelOfSumsIsNotDividedAndEachBatchCountsOnce) {
  RingJob job = HybridJob(OptimizerKind::kSgd, UnequalLanes(), /*servers=*/3);
  job.model.model = "linear_probe";
  job.apart_in_step = false;
  for (const Reduction reduction : {Reduction::kRankOrder, Reduction::kFast}) {
    HybridWorld world(job, 5, reduction);
    ASSERT_TRUE(world.Run());
    EXPECT_THAT(world.Digests(), Each(SerialDigest(job)));
  }
  job.canary = true;
  HybridWorld world(job, 5);
  ASSERT_TRUE(world.Run());
  for (int s = 0; s < 6; ++s) {
    const StatsReply stats =
        s < 3 ? world.StatsOf(world.server(s), ServerStats(s))
              : world.StatsOf(world.rank(s - 3).replica(), RingStats(s - 3));
    ASSERT_TRUE(stats.canary.has_value());
    EXPECT_EQ(stats.canary->rows, 15u);
    EXPECT_EQ(stats.canary->not_one, 0u);
    EXPECT_EQ(stats.canary->foreign, 0u);
  }
}

TEST(HybridExchangeTest, ASpoiltBatchIsMarkedRejectedEverywhere) {
  for (const Spoilt spoilt : {Spoilt::kRows, Spoilt::kDense}) {
    RingJob job = HybridJob(OptimizerKind::kAdagrad, UnequalLanes());
    for (const BatchId& id :
         {BatchId{0, 0, 1}, BatchId{0, 2, 1}, BatchId{0, 2, 5}}) {
      job.spoilt[id] = spoilt;
    }
    HybridWorld world(job, 7);
    ASSERT_TRUE(world.Run());
    EXPECT_THAT(world.Digests(), Each(SerialDigest(job)));
    for (int s = 0; s < 2; ++s) {
      EXPECT_EQ(world.server(s).TotalMarks().rejected, 3u);
    }
    for (int rank = 0; rank < 3; ++rank) {
      EXPECT_EQ(world.rank(rank).replica().TotalMarks().rejected, 3u);
    }
    EXPECT_EQ(world.rank(0).rejected(), 1u);
    EXPECT_EQ(world.rank(2).rejected(), 2u);
  }
}

TEST(HybridExchangeTest, RefusedPushesAreRepeatedAndCountOnce) {
  for (uint64_t seed = 1; seed <= Seeds(20); ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    RingJob job = HybridJob(OptimizerKind::kAdagrad, UnequalLanes());
    job.failures = 40;
    HybridWorld world(job, seed);
    ASSERT_TRUE(world.Run());
    EXPECT_THAT(world.Digests(), Each(SerialDigest(job)));
  }
}

TEST(HybridExchangeTest, ALostRankEndsTheOthersAndIsNamed) {
  RingJob job =
      HybridJob(OptimizerKind::kSgd, {std::vector<std::vector<int>>(
                                         3, std::vector<int>(20, 3))});
  HybridWorld world(job, 1);
  world.Begin(0);
  ASSERT_TRUE(world.RunUntil([&] { return world.rank(0).applied() > 4; }));
  world.Send(2, [](RingRank& rank) { rank.Cancel(); });
  ASSERT_TRUE(world.RunUntil([&] {
    return !world.rank(0).failure().ok() && !world.rank(1).failure().ok();
  }));
  for (const int rank : {0, 1}) {
    EXPECT_TRUE(absl::IsUnavailable(world.rank(rank).failure()));
    EXPECT_THAT(world.rank(rank).failure().message(), HasSubstr("rank 2"));
  }
}

// The life of a rank ends at any time, perhaps while its rows are pushed: the
// calls read its step until they end. A sanitizer would tell otherwise.
TEST(HybridExchangeTest, ARankMayBeCancelledAtAnyTime) {
  for (uint64_t seed = 1; seed <= Seeds(20); ++seed) {
    HybridWorld world(HybridJob(OptimizerKind::kSgd, UnequalLanes()), seed);
    world.Begin(0);
    world.SendAll([](RingRank& rank) { rank.Cancel(); });
    world.simulator().RunFor(absl::Seconds(1));
  }
}

// Holds at random times. False: at one of them the servers and the replicas did
// not have the same batches, or it was not reached.
bool HoldsAtBorders(const RingJob& job, uint64_t seed) {
  HybridWorld world(job, seed);
  std::mt19937_64 random(seed);
  uint64_t number = 0;
  for (uint32_t epoch = 0; epoch < job.lanes.size(); ++epoch) {
    world.Begin(epoch);
    while (!world.Complete(epoch)) {
      world.simulator().RunFor(absl::Microseconds(random() % 30'000));
      if (++number > 500) return false;
      world.SendAll([n = number](RingRank& r) { r.Hold(n); });
      if (!world.RunUntil([&] {
            return world.rank(0).held() == number &&
                   world.rank(1).held() == number &&
                   world.rank(2).held() == number;
          })) {
        return false;
      }
      const uint64_t marked = world.rank(0).marked();
      if (!world.AllHave(marked)) return false;
      world.simulator().RunFor(absl::Milliseconds(50));
      if (!world.AllHave(marked)) return false;
      world.SendAll([n = number](RingRank& r) { r.Resume(n); });
      world.simulator().RunFor(absl::Milliseconds(20));
    }
  }
  EXPECT_THAT(world.Digests(), Each(SerialDigest(job)));
  return true;
}

TEST(HybridExchangeTest, AtAHoldServersAndReplicasHaveTheSameBatches) {
  for (uint64_t seed = 1; seed <= Seeds(20); ++seed) {
    RingJob job = HybridJob(OptimizerKind::kAdagrad, UnequalLanes());
    job.failures = seed % 2 == 0 ? 0 : 10;
    EXPECT_TRUE(HoldsAtBorders(job, seed)) << "seed " << seed;
  }
}

TEST(HybridExchangeTest, RowsThatAreNotWaitedForAreFoundAtAHold) {
  RingJob job = HybridJob(OptimizerKind::kAdagrad, UnequalLanes());
  job.model.model = "linear_probe";  // rows of any age are good enough
  job.model.table_optimizer.kind = job.model.dense_optimizer.kind =
      OptimizerKind::kSgd;
  job.leaves_rows = true;
  // Not every seed has a hold while rows are on their way.
  uint64_t found = 0;
  for (uint64_t seed = 1; seed <= Seeds(20); ++seed) {
    found += HoldsAtBorders(job, seed) ? 0 : 1;
  }
  EXPECT_GT(found, Seeds(20) / 2);
}

}  // namespace
}  // namespace shoal
