// Ranks of --mode=ring over LocalCollective, each with a real replica, against
// a serial oracle that adds the same batches in the order of the ranks.
#include "worker/train/ring_exchange.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/clock.h"
#include "base/thread_executor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/conformance/completion.h"
#include "tests/harness/seeds.h"
#include "tests/harness/simulated_executor.h"
#include "tests/ps/shard_set.h"
#include "tests/worker/train/ring_rank.h"
#include "worker/collective/local_collective.h"

namespace shoal {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

OptimizerSpec Optimizer(OptimizerKind kind) {
  OptimizerSpec spec;
  spec.kind = kind;
  spec.learning_rate = 0.0625f;
  return spec;
}

RingJob DeepFmJob(OptimizerKind kind, RingLanes lanes) {
  RingJob job;
  job.model.field_size = 4;
  job.model.feature_size = 48;
  job.model.embedding_size = 3;
  job.model.deep_layers = {8, 4};
  job.model.dense_optimizer = job.model.table_optimizer = Optimizer(kind);
  job.lanes = std::move(lanes);
  return job;
}

RingJob ProbeJob(RingLanes lanes) {
  RingJob job = DeepFmJob(OptimizerKind::kSgd, std::move(lanes));
  job.model.model = "linear_probe";
  job.canary = true;
  return job;
}

// `steps` batches for each of `ranks`, of unequal sizes.
RingLanes EqualLanes(int ranks, int steps) {
  RingLanes lanes(1, std::vector<std::vector<int>>(ranks));
  for (int rank = 0; rank < ranks; ++rank) {
    for (int s = 0; s < steps; ++s) {
      lanes[0][rank].push_back(1 + (5 * rank + 3 * s) % 7);
    }
  }
  return lanes;
}

// Two epochs in which the lanes end at different steps, and one has no batch.
RingLanes UnequalLanes() {
  return {{{3, 3, 3}, {5, 1}, {4, 4, 4, 4, 4, 2}}, {{2}, {}, {3, 3, 1}}};
}

size_t BatchesUntil(const RingJob& job, size_t epochs) {
  size_t batches = 0;
  for (size_t e = 0; e < epochs; ++e) {
    for (const std::vector<int>& lane : job.lanes[e]) batches += lane.size();
  }
  return batches;
}

// All ranks of a job on one simulated thread, and the epochs' barrier.
class RingWorld {
 public:
  RingWorld(const RingJob& job, uint64_t seed,
            Reduction reduction = Reduction::kRankOrder)
      : job_(job), simulator_(seed), random_(seed) {
    std::vector<Executor*> executors;
    for (int rank = 0; rank < job_.ranks(); ++rank) {
      strands_.push_back(std::make_unique<SimulatedExecutor>(
          &simulator_, absl::StrCat("rank ", rank)));
      executors.push_back(strands_.back().get());
    }
    auto collectives =
        MakeLocalCollectives({.reduction = reduction}, executors);
    for (int rank = 0; rank < job_.ranks(); ++rank) {
      ranks_.push_back(std::make_unique<RingRank>(
          &job_, rank, std::move(collectives[rank]), executors[rank],
          executors[rank], seed));
    }
  }
  ~RingWorld() {
    for (const auto& strand : strands_) strand->Kill();
  }

  RingRank& rank(int rank) { return *ranks_[rank]; }
  Simulator& simulator() { return simulator_; }
  // Runs `task` on the rank's strand after a random time.
  void Send(int rank, std::function<void(RingRank&)> task) {
    strands_[rank]->PostAfter(
        absl::Microseconds(random_() % 20'000),
        [to = ranks_[rank].get(), task = std::move(task)] { task(*to); });
  }
  void Begin(uint32_t epoch) {
    for (int rank = 0; rank < job_.ranks(); ++rank) {
      Send(rank, [epoch](RingRank& r) { r.BeginEpoch(epoch); });
    }
  }
  bool RunUntil(absl::FunctionRef<bool()> done) {
    return simulator_.RunUntil(done, simulator_.Now() + absl::Hours(1));
  }
  // True when every replica has every batch of the epochs so far.
  bool Complete(uint32_t epoch) const {
    const size_t batches = BatchesUntil(job_, epoch + 1);
    return std::all_of(ranks_.begin(), ranks_.end(), [&](const auto& rank) {
      return rank->lane_done() && rank->marked() == batches;
    });
  }
  // Trains all epochs. False: it does not end.
  bool Run() {
    for (uint32_t epoch = 0; epoch < job_.lanes.size(); ++epoch) {
      Begin(epoch);
      if (!RunUntil([&] { return Complete(epoch); })) return false;
    }
    return true;
  }
  std::vector<uint64_t> Digests() {
    std::vector<uint64_t> digests;
    for (int rank = 0; rank < job_.ranks(); ++rank) {
      digests.push_back(Stats(rank).digest);
    }
    return digests;
  }
  StatsReply Stats(int rank) {
    StatsReply stats;
    bool done = false;
    ranks_[rank]->replica().Stats(
        RingStats(rank), absl::Seconds(1),
        [&](absl::StatusOr<StatsReply> reply) {
          EXPECT_TRUE(reply.ok()) << reply.status();
          if (reply.ok()) stats = *std::move(reply);
          done = true;
        });
    EXPECT_TRUE(RunUntil([&] { return done; }));
    return stats;
  }

 private:
  const RingJob job_;
  Simulator simulator_;
  std::mt19937_64 random_;
  std::vector<std::unique_ptr<SimulatedExecutor>> strands_;
  std::vector<std::unique_ptr<RingRank>> ranks_;
};

struct Case {
  OptimizerKind optimizer;
  int ranks;
};

class RingOracleTest : public testing::TestWithParam<Case> {};

TEST_P(RingOracleTest, EveryReplicaHasTheBitsOfASerialSum) {
  const RingJob job =
      DeepFmJob(GetParam().optimizer, EqualLanes(GetParam().ranks, 50));
  RingWorld world(job, 1);
  ASSERT_TRUE(world.Run());
  EXPECT_THAT(world.Digests(), Each(SerialDigest(job)));
}

INSTANTIATE_TEST_SUITE_P(
    All, RingOracleTest,
    testing::Values(Case{OptimizerKind::kSgd, 1}, Case{OptimizerKind::kSgd, 3},
                    Case{OptimizerKind::kAdagrad, 2},
                    Case{OptimizerKind::kAdagrad, 4},
                    Case{OptimizerKind::kAdam, 2},
                    Case{OptimizerKind::kAdam, 3},
                    Case{OptimizerKind::kAdam, 4}),
    [](const auto& info) {
      return absl::StrCat(OptimizerName(info.param.optimizer), "_",
                          info.param.ranks);
    });

TEST(RingExchangeTest, LanesMayEndAtDifferentStepsInEveryEpoch) {
  for (uint64_t seed = 1; seed <= Seeds(20); ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    const RingJob job = DeepFmJob(OptimizerKind::kAdam, UnequalLanes());
    RingWorld world(job, seed);
    ASSERT_TRUE(world.Run());
    EXPECT_THAT(world.Digests(), Each(SerialDigest(job)));
    // 6 + 3 steps: a push of several batches is one update.
    EXPECT_EQ(world.rank(0).applied(), 4u);
    EXPECT_EQ(world.rank(1).applied(), 2u);
    EXPECT_EQ(world.rank(2).applied(), 9u);
  }
}

TEST(RingExchangeTest, BucketsChangeNoBit) {
  RingJob job = DeepFmJob(OptimizerKind::kAdam, UnequalLanes());
  const uint64_t serial = SerialDigest(job);
  for (const uint64_t bytes : {1, 4, 100, 1 << 20}) {
    job.bucket_bytes = bytes;
    RingWorld world(job, 3);
    ASSERT_TRUE(world.Run());
    EXPECT_THAT(world.Digests(), Each(serial)) << bytes;
  }
}

TEST(RingExchangeTest, AModelOfSumsIsNotDividedAndEachBatchCountsOnce) {
  RingJob job = ProbeJob(UnequalLanes());
  for (const Reduction reduction : {Reduction::kRankOrder, Reduction::kFast}) {
    RingWorld world(job, 5, reduction);
    ASSERT_TRUE(world.Run());
    for (int rank = 0; rank < 3; ++rank) {
      const auto canary = world.Stats(rank).canary;
      ASSERT_TRUE(canary.has_value());
      EXPECT_EQ(canary->rows, 15u);
      EXPECT_EQ(canary->not_one, 0u);
      EXPECT_EQ(canary->foreign, 0u);
    }
    EXPECT_EQ(world.Digests()[0], world.Digests()[2]);
  }
  job.canary = false;
  RingWorld world(job, 5);
  ASSERT_TRUE(world.Run());
  EXPECT_THAT(world.Digests(), Each(SerialDigest(job)));
}

TEST(RingExchangeTest, TheFastReductionIsEqualOnAllReplicasAndInEveryRun) {
  const RingJob job = DeepFmJob(OptimizerKind::kAdagrad, EqualLanes(4, 20));
  RingWorld world(job, 1, Reduction::kFast);
  ASSERT_TRUE(world.Run());
  const std::vector<uint64_t> digests = world.Digests();
  EXPECT_THAT(digests, Each(digests[0]));
  RingWorld again(job, 2, Reduction::kFast);
  ASSERT_TRUE(again.Run());
  EXPECT_THAT(again.Digests(), Each(digests[0]));
  EXPECT_NE(digests[0], SerialDigest(job));
}

TEST(RingExchangeTest, ASpoiltBatchIsMarkedRejectedAndLeftOut) {
  for (const double clip_norm : {0.0, 0.5}) {
    for (const Spoilt spoilt : {Spoilt::kRows, Spoilt::kDense}) {
      RingJob job = DeepFmJob(OptimizerKind::kAdam, UnequalLanes());
      job.clip_norm = clip_norm;
      // In step 1 two of three, in the last step of the epoch the only one.
      for (const BatchId& id :
           {BatchId{0, 0, 1}, BatchId{0, 2, 1}, BatchId{0, 2, 5}}) {
        job.spoilt[id] = spoilt;
      }
      RingWorld world(job, 7);
      ASSERT_TRUE(world.Run());
      EXPECT_THAT(world.Digests(), Each(SerialDigest(job)));
      for (int rank = 0; rank < 3; ++rank) {
        EXPECT_EQ(world.rank(rank).replica().TotalMarks().rejected, 3u);
      }
      EXPECT_EQ(world.rank(0).rejected(), 1u);
      EXPECT_EQ(world.rank(1).rejected(), 0u);
      EXPECT_EQ(world.rank(2).rejected(), 2u);
    }
  }
}

TEST(RingExchangeTest, ARefusedPushIsPushedAgainWithoutARound) {
  for (uint64_t seed = 1; seed <= Seeds(20); ++seed) {
    RingJob job = DeepFmJob(OptimizerKind::kAdam, UnequalLanes());
    job.failures = 30;
    RingWorld world(job, seed);
    ASSERT_TRUE(world.Run());
    EXPECT_THAT(world.Digests(), Each(SerialDigest(job))) << seed;
  }
}

TEST(RingExchangeTest, AFailingPushWithoutAnOwnBatchIsToldOnce) {
  // The only rank with batches is rank 0. A trainer tells its failures.
  RingJob job = DeepFmJob(OptimizerKind::kSgd, {{{1, 1, 1, 1, 1}, {}}});
  job.failures = 90;
  RingWorld world(job, 1);
  ASSERT_TRUE(world.Run());
  EXPECT_THAT(world.rank(0).warnings(), IsEmpty());
  std::vector<testing::Matcher<std::string>> once;
  for (int i = 0; i < 5; ++i) {
    once.push_back(AllOf(StartsWith(absl::StrCat("batch (0,0,", i, ") ")),
                         HasSubstr("planted; trying again")));
  }
  EXPECT_THAT(world.rank(1).warnings(), ElementsAreArray(once));
}

TEST(RingExchangeTest, ALostRankEndsTheOthersAndIsNamed) {
  RingJob job = DeepFmJob(OptimizerKind::kSgd, EqualLanes(3, 20));
  // The lane of rank 1 ends soon: no Finish of its own can tell the error.
  job.lanes[0][1].resize(2);
  RingWorld world(job, 1);
  world.Begin(0);
  ASSERT_TRUE(world.RunUntil([&] { return world.rank(0).applied() > 4; }));
  world.Send(2, [](RingRank& rank) { rank.Cancel(); });
  ASSERT_TRUE(world.RunUntil([&] {
    return !world.rank(0).failure().ok() && !world.rank(1).failure().ok();
  }));
  for (const int rank : {0, 1}) {
    const absl::Status failure = world.rank(rank).failure();
    EXPECT_TRUE(absl::IsUnavailable(failure)) << failure;
    EXPECT_THAT(failure.message(), HasSubstr("rank 2"));
  }
}

// The job goes on with the next generation, which the coordinator begins.
TEST(RingExchangeTest, ALostRankIsToldOnceWhereTheRanksMayChange) {
  RingJob job = DeepFmJob(OptimizerKind::kSgd, EqualLanes(3, 20));
  job.lanes[0][1].resize(2);
  job.renews = true;
  RingWorld world(job, 1);
  std::vector<RingBroken> told[3];
  for (int rank = 0; rank < 3; ++rank) {
    world.rank(rank).OnMessage([&, rank](const ProcessMessage& message) {
      told[rank].push_back(std::get<RingBroken>(message));
    });
  }
  world.Begin(0);
  ASSERT_TRUE(world.RunUntil([&] { return world.rank(0).applied() > 4; }));
  world.Send(2, [](RingRank& rank) { rank.Cancel(); });
  world.simulator().RunFor(absl::Hours(1));
  for (const int rank : {0, 1}) {
    ASSERT_EQ(told[rank].size(), 1u) << rank;
    EXPECT_EQ(told[rank][0].number, 1u);
    EXPECT_TRUE(absl::IsUnavailable(told[rank][0].status));
    EXPECT_THAT(told[rank][0].status.message(), HasSubstr("rank 2"));
    EXPECT_TRUE(world.rank(rank).failure().ok());
    // What its replica has by then is the same as before.
    const uint64_t marked = world.rank(rank).marked();
    bool retired = false;
    world.Send(rank, [&](RingRank& r) {
      r.Retire([&](absl::StatusOr<std::shared_ptr<StepMemory>> newest) {
        ASSERT_TRUE(newest.ok()) << newest.status();
        EXPECT_NE(*newest, nullptr);
        retired = true;
      });
    });
    EXPECT_TRUE(world.RunUntil([&] { return retired; }));
    EXPECT_EQ(world.rank(rank).marked(), marked);
  }
}

TEST(RingExchangeTest, ABatchOfTwoRanksEndsAllRanks) {
  RingJob job = DeepFmJob(OptimizerKind::kSgd, EqualLanes(3, 20));
  job.same_batches = true;
  RingWorld world(job, 1);
  world.Begin(0);
  for (int rank = 0; rank < 3; ++rank) {
    ASSERT_TRUE(
        world.RunUntil([&] { return !world.rank(rank).failure().ok(); }));
    EXPECT_THAT(world.rank(rank).failure().message(),
                HasSubstr("batch (0,0,0) twice"));
    EXPECT_EQ(world.rank(rank).marked(), 0u);
  }
}

// What finds a faulty replica: the job does not end, since the ledger is the
// AND of all marks; or the digests of the replicas differ.
TEST(RingExchangeTest, AReplicaThatSkipsAStepOrHasAnotherSumIsFound) {
  for (uint64_t seed = 1; seed <= Seeds(20); ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    RingJob job = DeepFmJob(OptimizerKind::kSgd, EqualLanes(3, 5));
    job.replica_bug = ReplicaBug::kSkips;
    EXPECT_FALSE(RingWorld(job, seed).Run());
    job.replica_bug = ReplicaBug::kOtherSum;
    RingWorld other(job, seed);
    ASSERT_TRUE(other.Run());
    const std::vector<uint64_t> digests = other.Digests();
    EXPECT_EQ(digests[0], digests[2]);
    EXPECT_NE(digests[0], digests[1]);
  }
}

// The same with real threads, which sum on whichever thread comes last.
TEST(RingExchangeTest, RanksOnThreadsOfTheirOwnHaveTheSameBits) {
  const RingJob job = DeepFmJob(OptimizerKind::kAdam, EqualLanes(3, 15));
  RealClock clock;
  std::vector<std::unique_ptr<ThreadExecutor>> strands;
  std::vector<Executor*> executors;
  for (int rank = 0; rank < job.ranks(); ++rank) {
    strands.push_back(std::make_unique<ThreadExecutor>(
        ThreadExecutorOptions{.name = "rank"}, &clock));
    executors.push_back(strands.back().get());
  }
  auto collectives = MakeLocalCollectives(
      {.reduction = Reduction::kRankOrder}, executors);
  std::vector<std::unique_ptr<RingRank>> ranks;
  for (int rank = 0; rank < job.ranks(); ++rank) {
    ranks.push_back(std::make_unique<RingRank>(
        &job, rank, std::move(collectives[rank]), executors[rank],
        executors[rank], /*seed=*/1));
    executors[rank]->Post([r = ranks[rank].get()] { r->BeginEpoch(0); });
  }
  const auto done = [&](const auto& rank) {
    return rank->lane_done() && rank->marked() == 45;
  };
  // The limit only ends a hanging test.
  for (int i = 0; i < 3000 && !std::all_of(ranks.begin(), ranks.end(), done);
       ++i) {
    absl::SleepFor(absl::Milliseconds(10));
  }
  ShardSet serial(job.Spec(), PartitionKind::kFixedSize, 1);
  TrainSerially(job, &serial);
  for (int rank = 0; rank < job.ranks(); ++rank) {
    EXPECT_TRUE(done(ranks[rank]));
    const auto stats = CallAndWait<StatsReply>([&](Done<StatsReply> answer) {
      ranks[rank]->replica().Stats(RingStats(rank), absl::Seconds(30),
                                   std::move(answer));
    });
    ASSERT_TRUE(stats.ok()) << stats.status();
    EXPECT_EQ(stats->digest, serial.Digest());
  }
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    executors[rank]->Post([r = ranks[rank].get()] { r->Cancel(); });
  }
  for (const auto& strand : strands) strand->Shutdown();
}

// Holds at random times: while training, at the ends of lanes, between epochs,
// some of which end before they are reached.
class RingHoldTest : public testing::TestWithParam<uint64_t> {};

TEST_P(RingHoldTest, AllRanksStopAtOneBorderAndTheStepsStayTheSame) {
  RingJob job = DeepFmJob(OptimizerKind::kAdam, UnequalLanes());
  job.lanes.push_back(EqualLanes(3, 6)[0]);
  job.failures = GetParam() % 2 == 0 ? 0 : 10;
  RingWorld world(job, GetParam());
  std::mt19937_64 random(GetParam());
  uint64_t number = 0;
  for (uint32_t epoch = 0; epoch < job.lanes.size(); ++epoch) {
    bool begun = random() % 2 == 0;
    if (begun) world.Begin(epoch);
    while (!world.Complete(epoch) || random() % 4 == 0) {
      world.simulator().RunFor(absl::Microseconds(random() % 30'000));
      ASSERT_LT(++number, 500u) << "no end";
      for (int rank = 0; rank < 3; ++rank) {
        world.Send(rank, [n = number](RingRank& r) { r.Hold(n); });
      }
      // Some ranks begin before the hold, others after it.
      if (!std::exchange(begun, true)) world.Begin(epoch);
      if (random() % 4 != 0) {
        ASSERT_TRUE(world.RunUntil([&] {
          return world.rank(0).held() == number &&
                 world.rank(1).held() == number &&
                 world.rank(2).held() == number;
        })) << "hold " << number << " of seed " << GetParam();
        const uint64_t marked = world.rank(0).marked();
        world.simulator().RunFor(absl::Milliseconds(50));
        for (int rank = 0; rank < 3; ++rank) {
          EXPECT_EQ(world.rank(rank).marked(), marked);
        }
        EXPECT_THAT(world.Digests(), Each(world.Digests()[0]));
      } else {
        // In order behind the Hold, as on a session.
        world.simulator().RunFor(absl::Milliseconds(20));
      }
      for (int rank = 0; rank < 3; ++rank) {
        world.Send(rank, [n = number](RingRank& r) { r.Resume(n); });
      }
      world.simulator().RunFor(absl::Milliseconds(20));
    }
  }
  EXPECT_THAT(world.Digests(), Each(SerialDigest(job)));
}

INSTANTIATE_TEST_SUITE_P(Seeds, RingHoldTest, testing::Range<uint64_t>(1, 21));

}  // namespace
}  // namespace shoal
