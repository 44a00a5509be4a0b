// Ranks of --mode=ring and hybrid that are killed at any time, over
// LocalCollective, and a coordinator of the test's own that begins the
// generations: the survivors' replicas stay equal, and they and the servers
// have each batch once.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "core/mark.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/harness/seeds.h"
#include "tests/harness/simulated_executor.h"
#include "tests/worker/train/ring_rank.h"
#include "worker/collective/local_collective.h"

namespace shoal {
namespace {

// Tells a rank of the end of each operation some time after the others, as a
// network does: so a rank may be lost, or leave, when others have done a round
// that it has not.
class LateCollective final : public Collective {
 public:
  LateCollective(std::unique_ptr<Collective> inner, Executor* strand,
                 uint64_t seed)
      : inner_(std::move(inner)), strand_(strand), random_(seed) {}
  ~LateCollective() override { *here_ = false; }

  int rank() const override { return inner_->rank(); }
  int size() const override { return inner_->size(); }
  void AllReduce(CollectiveTag tag, absl::Span<float> values,
                 absl::Duration timeout, Done<CollectiveReply> done) override {
    inner_->AllReduce(std::move(tag), values, timeout, Late(std::move(done)));
  }
  void AllGather(CollectiveTag tag, absl::Span<const char> bytes,
                 GatheredParts* parts, absl::Duration timeout,
                 Done<CollectiveReply> done) override {
    inner_->AllGather(std::move(tag), bytes, parts, timeout,
                      Late(std::move(done)));
  }
  void Broadcast(CollectiveTag tag, int root, absl::Span<char> bytes,
                 absl::Duration timeout, Done<CollectiveReply> done) override {
    inner_->Broadcast(std::move(tag), root, bytes, timeout,
                      Late(std::move(done)));
  }

 private:
  Done<CollectiveReply> Late(Done<CollectiveReply> done) {
    return [this, here = here_, done = std::move(done)](
               absl::StatusOr<CollectiveReply> reply) mutable {
      if (!*here) {
        std::move(done)(absl::CancelledError("left"));
        return;
      }
      // Now and then long enough for the others' next steps.
      const uint64_t span = random_() % 8 == 0 ? 12'000 : 200;
      last_ = std::max(last_,
                       strand_->Now() + absl::Microseconds(random_() % span));
      strand_->PostAt(last_, [here, done = std::move(done),
                              reply = std::move(reply)]() mutable {
        if (!*here) reply = absl::CancelledError("left");
        std::move(done)(std::move(reply));
      });
    };
  }

  const std::unique_ptr<Collective> inner_;
  Executor* const strand_;
  std::mt19937_64 random_;
  absl::Time last_;
  const std::shared_ptr<bool> here_ = std::make_shared<bool>(true);
};

// A job whose sums are exact: its end depends on no order and no step.
RingJob ExactJob(int ranks, int steps, int servers = 0) {
  RingJob job;
  job.servers = servers;
  job.model.model = "linear_probe";
  job.model.field_size = 4;
  job.model.feature_size = 48;
  job.model.embedding_size = 3;
  job.model.deep_layers = {8, 4};
  OptimizerSpec sgd;
  sgd.kind = OptimizerKind::kSgd;
  sgd.learning_rate = 0.0625f;
  job.model.dense_optimizer = job.model.table_optimizer = sgd;
  job.canary = true;
  job.lanes = RingLanes(1, std::vector<std::vector<int>>(
                               static_cast<size_t>(ranks)));
  for (int rank = 0; rank < ranks; ++rank) {
    for (int s = 0; s < steps; ++s) {
      job.lanes[0][static_cast<size_t>(rank)].push_back(1 +
                                                        (5 * rank + 3 * s) % 7);
    }
  }
  return job;
}

uint64_t ExactDigest(RingJob job) {
  job.canary = false;
  return SerialDigest(job);
}

std::vector<BatchId> AllBatches(const RingJob& job) {
  std::vector<BatchId> batches;
  for (uint32_t i = 0;; ++i) {
    const size_t before = batches.size();
    for (uint32_t piece = 0; piece < job.lanes[0].size(); ++piece) {
      if (i < job.lanes[0][piece].size()) batches.push_back({0, piece, i});
    }
    if (batches.size() == before) return batches;
  }
}

// The ranks, and what the coordinator does with them. One rank of the job is
// one process: it is killed with its replica. Servers stay.
class GenerationWorld {
 public:
  GenerationWorld(const RingJob& job, uint64_t seed)
      : job_(job), simulator_(seed), random_(seed) {
    job_.network = &network_;
    servers_.resize(static_cast<size_t>(job_.servers));
    shards_ = MakeRingServers(job_, &server_strand_);
    for (int s = 0; s < job_.servers; ++s) SendMarksOften(s);
    for (int rank = 0; rank < job_.ranks(); ++rank) {
      strands_.push_back(std::make_unique<SimulatedExecutor>(
          &simulator_, absl::StrCat("rank ", rank)));
      alive_.push_back(rank);
      members_.emplace_back();
    }
    auto collectives = Collectives();
    for (int rank = 0; rank < job_.ranks(); ++rank) {
      Member& member = members_[Index(rank)];
      member.rank = std::make_unique<RingRank>(
          &job_, rank, nullptr, strands_[Index(rank)].get(),
          strands_[Index(rank)].get(), seed, shards_);
      member.rank->OnMessage([this, rank](const ProcessMessage& message) {
        OnMessage(rank, message);
      });
      member.rank->Join(std::move(collectives[Index(rank)]), {1, nullptr});
      member.has_exchange = true;
    }
    Deal();
  }
  ~GenerationWorld() {
    for (const auto& strand : strands_) strand->Kill();
  }

  Simulator& simulator() { return simulator_; }
  const std::vector<int>& alive() const { return alive_; }
  uint64_t generation() const { return generation_; }
  RingRank& rank(int rank) { return *members_[Index(rank)].rank; }
  // The reason why the job cannot go on; OK: there is none.
  absl::Status failure() const {
    absl::Status failure = failure_;
    for (const int rank : alive_) {
      failure.Update(members_[Index(rank)].rank->failure());
    }
    return failure;
  }

  // The process dies, and the coordinator hears of it some time later.
  void Kill(int rank) {
    strands_[Index(rank)]->Kill();
    members_[Index(rank)].rank->Cancel();
    alive_.erase(std::find(alive_.begin(), alive_.end(), rank));
    Later([this] { BeginGeneration(); });
  }
  // As after a connection that broke.
  void BeginGeneration() {
    ++generation_;
    level_.clear();
    ready_.clear();
    for (const int rank : alive_) {
      Send(rank, [this, rank, g = generation_] { OnNewGeneration(rank, g); });
    }
  }

  // All survivors and servers have all batches, and the coordinator waits for
  // nothing.
  bool Complete() const {
    const size_t batches = AllBatches(job_).size();
    for (const auto& shard : shards_) {
      if (shard->TotalMarks().applied + shard->TotalMarks().rejected !=
          batches) {
        return false;
      }
    }
    return !alive_.empty() && dealt_ == generation_ && pending_ == 0 &&
           std::all_of(alive_.begin(), alive_.end(), [&](int rank) {
             const RingRank& r = *members_[Index(rank)].rank;
             return r.lane_done() && r.marked() == batches;
           });
  }
  // Runs tasks until the job is complete, or until `tasks` of them ran. True if
  // it is complete.
  bool Run(size_t tasks) {
    for (size_t i = 0; i < tasks; ++i) {
      if (Complete() || !failure().ok()) return Complete();
      if (!simulator_.RunOne()) return Complete();
    }
    return Complete();
  }

  StatsReply Stats(int rank) {
    return StatsOf(&members_[Index(rank)].rank->replica(), RingStats(rank));
  }
  StatsReply StatsOfServer(int server) {
    return StatsOf(shards_[Index(server)].get(), ServerStats(server));
  }
  // Batches of which a deal found rows on servers alone.
  int half_marked() const { return half_marked_; }

 private:
  StatsReply StatsOf(ParameterShard* shard, StatsRequest request) {
    StatsReply stats;
    bool done = false;
    shard->Stats(
        std::move(request), absl::Seconds(1),
        [&](absl::StatusOr<StatsReply> reply) {
          EXPECT_TRUE(reply.ok()) << reply.status();
          if (reply.ok()) stats = *std::move(reply);
          done = true;
        });
    EXPECT_TRUE(simulator_.RunUntil([&] { return done; },
                                    simulator_.Now() + absl::Hours(1)));
    return stats;
  }

  struct Member {
    std::unique_ptr<RingRank> rank;
    bool has_exchange = false;
    bool retiring = false;
    uint64_t asked = 1;
    std::shared_ptr<StepMemory> newest;
    absl::Time last_sent;
  };

  // What the coordinator knows of a server.
  struct Server {
    std::set<BatchId> told;  // its marks
    uint64_t ended = 0;      // the newest lease of its GenerationReady
    bool ready = true;
    absl::Time last_sent;
  };

  static size_t Index(int rank) { return static_cast<size_t>(rank); }

  std::vector<std::unique_ptr<Collective>> Collectives() {
    std::vector<Executor*> executors;
    for (const int rank : alive_) {
      executors.push_back(strands_[Index(rank)].get());
    }
    auto ranks = MakeLocalCollectives({.generation = generation_,
                                       .reduction = Reduction::kRankOrder},
                                      executors);
    for (size_t r = 0; r < ranks.size(); ++r) {
      ranks[r] = std::make_unique<LateCollective>(std::move(ranks[r]),
                                                  executors[r], random_());
    }
    return ranks;
  }

  // In order with what was sent before, as on a session.
  void Send(int rank, std::function<void()> task) {
    Member& member = members_[Index(rank)];
    member.last_sent =
        std::max(member.last_sent,
                 simulator_.Now() + absl::Microseconds(random_() % 3000));
    strands_[Index(rank)]->PostAt(member.last_sent, std::move(task));
  }
  void Later(std::function<void()> task) {
    ++pending_;
    coordinator_.PostAfter(absl::Microseconds(random_() % 8000),
                           [this, task = std::move(task)] {
                             --pending_;
                             task();
                           });
  }

  // What WorkerLoop does.
  void OnNewGeneration(int rank, uint64_t number) {
    Member& member = members_[Index(rank)];
    member.asked = number;
    if (member.retiring) return;
    if (!member.has_exchange) {
      Ready(rank);
      return;
    }
    member.retiring = true;
    member.has_exchange = false;
    member.rank->Retire(
        [this, rank](absl::StatusOr<std::shared_ptr<StepMemory>> newest) {
          Member& member = members_[Index(rank)];
          member.retiring = false;
          failure_.Update(newest.status());
          if (newest.ok()) member.newest = *std::move(newest);
          Ready(rank);
        });
  }
  void Ready(int rank) {
    Later([this, rank, number = members_[Index(rank)].asked] {
      if (number != generation_) return;
      ready_.insert(rank);
      if (!AllIn(ready_)) return;
      EndLeases();
      auto collectives = Collectives();
      for (size_t i = 0; i < alive_.size(); ++i) {
        Send(alive_[i], [this, rank = alive_[i], number = generation_,
                         ring = std::make_shared<std::unique_ptr<Collective>>(
                             std::move(collectives[i]))] {
          Member& member = members_[Index(rank)];
          if (number < member.asked) return;
          member.has_exchange = true;
          member.rank->Join(std::move(*ring),
                            {number, std::exchange(member.newest, nullptr)});
        });
      }
    });
  }
  void OnMessage(int rank, const ProcessMessage& message) {
    const auto* level = std::get_if<ReplicaLevel>(&message);
    if (level == nullptr) return;
    Later([this, rank, told = *level] {
      if (told.number != generation_) return;
      level_.insert(rank);
      if (members_[Index(rank)].rank->marked() != told.batches) {
        failure_.Update(absl::InternalError("another number of marks"));
      }
      DealIfSettled();
    });
  }
  // What PsLoop does, and what the coordinator does with its messages.
  void SendMarksOften(int server) {
    server_strand_.PostAfter(absl::Microseconds(random_() % 60'000),
                             [this, server] {
                               SendMarks(server);
                               SendMarksOften(server);
                             });
  }
  void SendMarks(int server) {
    const MarkDelta delta = shards_[Index(server)]->TakeMarks();
    for (const Mark& mark : delta.marks) {
      ToCoordinator(server, [this, server, mark] {
        Server& from = servers_[Index(server)];
        if (mark.repeat) return;
        from.told.insert(mark.batch);
        if (mark.lease > from.ended) return;
        failure_.Update(absl::InternalError(absl::StrCat(
            "server ", server, " told a mark under lease ", mark.lease,
            ", and had ended ", from.ended)));
      });
    }
  }
  void ToCoordinator(int server, std::function<void()> task) {
    Server& from = servers_[Index(server)];
    from.last_sent =
        std::max(from.last_sent,
                 simulator_.Now() + absl::Microseconds(random_() % 8000));
    ++pending_;
    coordinator_.PostAt(from.last_sent, [this, task = std::move(task)] {
      --pending_;
      task();
    });
  }
  void EndLeases() {
    for (int s = 0; s < job_.servers; ++s) {
      servers_[Index(s)].ready = false;
      server_strand_.PostAfter(
          absl::Microseconds(random_() % 8000),
          [this, s, number = generation_, newest = leases_] {
            shards_[Index(s)]->EndLeases(newest, [this, s, number, newest] {
              SendMarks(s);
              ToCoordinator(s, [this, s, number, newest] {
                Server& from = servers_[Index(s)];
                from.ended = std::max(from.ended, newest);
                if (number != generation_) return;
                from.ready = true;
                DealIfSettled();
              });
            });
          });
    }
  }
  void DealIfSettled() {
    if (dealt_ == generation_ || !AllIn(level_)) return;
    for (const Server& server : servers_) {
      if (!server.ready) return;
    }
    Deal();
  }
  bool AllIn(const std::set<int>& some) const {
    return std::all_of(alive_.begin(), alive_.end(),
                       [&](int rank) { return some.contains(rank); });
  }
  // Deals what is left to the ranks.
  void Deal() {
    dealt_ = generation_;
    std::set<BatchId> marked;
    for (const int rank : alive_) {
      std::set<BatchId> own;
      for (const MarkRun& run :
           members_[Index(rank)].rank->replica().MarkRuns()) {
        for (uint64_t i = run.begin; i < run.end; ++i) {
          own.insert({run.epoch, run.piece, static_cast<uint32_t>(i)});
        }
      }
      if (rank == alive_[0]) marked = own;
      if (own != marked) {
        failure_.Update(absl::InternalError(
            absl::StrCat("the replica of rank ", rank, " is not level")));
      }
    }
    std::vector<BatchId> left;  // those that are half-marked first
    for (const BatchId& batch : AllBatches(job_)) {
      const auto servers = std::count_if(
          servers_.begin(), servers_.end(),
          [&](const Server& server) { return server.told.contains(batch); });
      if (marked.contains(batch)) {
        if (servers == job_.servers) continue;
        failure_.Update(absl::InternalError(absl::StrCat(
            "the replicas have batch ", ToString(batch), ", and only ", servers,
            " servers told it")));
      }
      half_marked_ += servers > 0;
      left.insert(servers > 0 ? left.begin() : left.end(), batch);
    }
    std::vector<std::vector<BatchId>> lanes(alive_.size());
    for (size_t i = 0; i < left.size(); ++i) {
      lanes[i % lanes.size()].push_back(left[i]);
    }
    for (size_t i = 0; i < alive_.size(); ++i) {
      Send(alive_[i], [this, rank = alive_[i], number = generation_,
                       lane = lanes[i], lease = ++leases_] {
        const Member& member = members_[Index(rank)];
        if (number < member.asked || !member.has_exchange) return;
        member.rank->BeginLane(lane, lease);
      });
    }
  }

  RingJob job_;
  Simulator simulator_;
  std::mt19937_64 random_;
  SimulatedExecutor network_{&simulator_, "network"};
  SimulatedExecutor server_strand_{&simulator_, "servers"};
  RingServers shards_;
  std::vector<Server> servers_;
  std::vector<std::unique_ptr<SimulatedExecutor>> strands_;
  SimulatedExecutor coordinator_{&simulator_, "coordinator"};
  std::vector<Member> members_;
  std::vector<int> alive_;
  uint64_t generation_ = 1;
  uint64_t dealt_ = 0;
  uint64_t leases_ = 0;  // the newest one
  int half_marked_ = 0;
  int pending_ = 0;  // tasks of the coordinator
  std::set<int> ready_;
  std::set<int> level_;
  absl::Status failure_;
};

void ExpectWhole(const RingJob& job, GenerationWorld* world) {
  ASSERT_TRUE(world->Run(1'000'000))
      << world->failure() << " in generation " << world->generation();
  const uint64_t digest = ExactDigest(job);
  const size_t batches = AllBatches(job).size();
  uint64_t rows = 0;  // their part of the digest
  for (int s = 0; s < job.servers; ++s) {
    const StatsReply stats = world->StatsOfServer(s);
    rows += stats.digest;
    ASSERT_TRUE(stats.canary.has_value());
    EXPECT_EQ(stats.canary->rows, batches) << "server " << s;
    EXPECT_EQ(stats.canary->not_one, 0u) << "server " << s;
  }
  for (const int rank : world->alive()) {
    const StatsReply stats = world->Stats(rank);
    EXPECT_EQ(rows + stats.digest, digest) << "rank " << rank;
    ASSERT_TRUE(stats.canary.has_value());
    EXPECT_EQ(stats.canary->rows, batches) << "rank " << rank;
    EXPECT_EQ(stats.canary->not_one, 0u) << "rank " << rank;
  }
}

// One rank dies after each task of a short job.
TEST(RingGenerationTest, ARankMayDieAfterEveryTask) {
  const RingJob job = ExactJob(3, 3);
  for (size_t tasks = 0;; tasks += Seeds(20) > 20 ? 1 : 3) {
    SCOPED_TRACE(absl::StrCat("killed after task ", tasks));
    GenerationWorld world(job, /*seed=*/tasks);
    if (world.Run(tasks)) break;
    world.Kill(static_cast<int>(tasks / 3 % 3));
    ExpectWhole(job, &world);
    if (HasFailure()) return;
    EXPECT_EQ(world.alive().size(), 2u);
    EXPECT_EQ(world.generation(), 2u);
  }
}

// Kills and generations without a kill at random times, also while the ranks
// change; calls to replicas that fail.
TEST(RingGenerationTest, ReplicasStayEqualThroughManyGenerations) {
  for (uint64_t seed = 1; seed <= Seeds(20); ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    std::mt19937_64 random(seed);
    RingJob job = ExactJob(4, 6);
    job.failures = seed % 2 == 0 ? 0 : 15;
    GenerationWorld world(job, seed);
    for (int change = 0; change < 8; ++change) {
      if (world.Run(random() % 400) || !world.failure().ok()) break;
      if (random() % 3 == 0 && world.alive().size() > 1) {
        world.Kill(world.alive()[random() % world.alive().size()]);
      } else {
        world.BeginGeneration();
      }
    }
    ExpectWhole(job, &world);
    if (HasFailure()) return;
  }
}

// The same beside servers with the rows, on the way to which a push may be late
// or come twice, after its rank has died. Planted: a server that ends leases
// and goes on taking pushes under them; one that answers before its marks.
TEST(HybridGenerationTest, ARankMayDieAfterEveryTask) {
  const RingJob job = ExactJob(3, 3, /*servers=*/2);
  int half_marked = 0;
  for (size_t tasks = 0;; tasks += Seeds(20) > 20 ? 1 : 5) {
    SCOPED_TRACE(absl::StrCat("killed after task ", tasks));
    GenerationWorld world(job, /*seed=*/tasks);
    if (world.Run(tasks)) break;
    world.Kill(static_cast<int>(tasks / 5 % 3));
    ExpectWhole(job, &world);
    if (HasFailure()) return;
    EXPECT_EQ(world.generation(), 2u);
    half_marked += world.half_marked();
  }
  EXPECT_GT(half_marked, 0);
}

TEST(HybridGenerationTest, ReplicasAndServersAgreeThroughManyGenerations) {
  for (uint64_t seed = 1; seed <= Seeds(20); ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    std::mt19937_64 random(seed);
    RingJob job = ExactJob(4, 6, static_cast<int>(1 + seed % 3));
    job.failures = seed % 2 == 0 ? 0 : 15;
    GenerationWorld world(job, seed);
    for (int change = 0; change < 8; ++change) {
      if (world.Run(random() % 600) || !world.failure().ok()) break;
      if (random() % 3 == 0 && world.alive().size() > 1) {
        world.Kill(world.alive()[random() % world.alive().size()]);
      } else {
        world.BeginGeneration();
      }
    }
    ExpectWhole(job, &world);
    if (HasFailure()) return;
  }
}

// A batch that is rejected everywhere leaves a mark, and no gradient to send.
TEST(RingGenerationTest, AStepOfRejectedBatchesIsMadeLevelToo) {
  for (uint64_t seed = 1; seed <= Seeds(20); ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    std::mt19937_64 random(seed);
    RingJob job = ExactJob(2, 6);
    for (uint32_t i = 1; i < 6; i += 2) {
      job.spoilt[{0, 0, i}] = Spoilt::kRows;
      job.spoilt[{0, 1, i}] = Spoilt::kDense;
    }
    GenerationWorld world(job, seed);
    for (int change = 0; change < 6 && !world.Run(random() % 60); ++change) {
      world.BeginGeneration();
    }
    ASSERT_TRUE(world.Run(1'000'000)) << world.failure();
    EXPECT_EQ(world.Stats(0).digest, world.Stats(1).digest);
    EXPECT_EQ(world.rank(0).replica().TotalMarks(),
              world.rank(1).replica().TotalMarks());
    EXPECT_EQ(world.rank(0).replica().TotalMarks().rejected, 6u);
  }
}

}  // namespace
}  // namespace shoal
