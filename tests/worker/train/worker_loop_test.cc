#include "worker/train/worker_loop.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "models/binary_objective.h"
#include "tests/harness/scripted_cluster.h"
#include "tests/harness/simulated_executor.h"
#include "worker/train/push_exchange.h"
#include "worker/train/step_memory.h"

namespace shoal {
namespace {

// A shard that never answers, and keeps what its callers want to hear until it
// ends: as a client, it cancels them then.
class SilentShard : public ParameterService {
 public:
  struct Log {
    int calls = 0;
    int alive = 0;
    int cancelled = 0;
    Life shard;  // of the newest pull
    bool fails = false;  // pulls end with an error
  };
  explicit SilentShard(Log* log) : log_(log) { ++log_->alive; }
  ~SilentShard() override {
    --log_->alive;
    log_->cancelled += static_cast<int>(waiting_.size());
  }
  void Pull(PullRequest request, absl::Duration,
            Done<PullReply> done) override {
    ++log_->calls;
    log_->shard = request.identity.shard;
    if (log_->fails) {
      std::move(done)(absl::InvalidArgumentError("no such table"));
      return;
    }
    waiting_.push_back(std::move(done));
  }
  void Push(PushRequest, absl::Duration, Done<PushReply>) override {}
  void Stats(StatsRequest, absl::Duration, Done<StatsReply>) override {}

 private:
  Log* const log_;
  std::vector<Done<PullReply>> waiting_;
};

// Is never asked to compute.
class IdleModel : public Model {
 public:
  IdleModel() { spec_.tables = {{"t", 4, {{"w", 1, {}, {}}}}}; }
  const ModelSpec& spec() const override { return spec_; }
  const Objective& objective() const override { return kBinaryObjective; }
  void Predict(const ModelInput&, absl::Span<float>) override {}
  void ForwardBackward(const ModelInput&, ModelOutput*) override {}

 private:
  ModelSpec spec_;
};

// One batch of one example, again and again.
class EndlessSource : public BatchSource {
 public:
  explicit EndlessSource(Executor* executor) : executor_(executor) {}
  void Next(Done<std::optional<Batch>> done) override {
    Batch batch;
    batch.examples.labels = {1};
    batch.examples.offsets = {0, 1};
    batch.examples.ids = {2};
    batch.examples.values = {1};
    executor_->Post([done = std::move(done), batch]() mutable {
      std::move(done)(std::move(batch));
    });
  }
  void Recycle(Batch) override {}
  const PieceReport& report() const override { return report_; }

 private:
  Executor* const executor_;
  PieceReport report_;
};

class WorkerLoopTest : public testing::Test {
 protected:
  explicit WorkerLoopTest(
      int index = 0, int replicated = -1, int depth = 1,
      const std::function<void(WorkerLoopDependencies*)>& change = nullptr) {
    WorkerLoopOptions options;
    options.member.registration.role = Role::kWorker;
    options.member.registration.index = index;
    options.map.num_shards = 1;
    options.map.replicated = replicated;
    options.map.tables = {{PartitionKind::kMod, 4, 1}};
    options.trainer.field_size = 1;
    options.trainer.pipeline_depth = depth;
    WorkerLoopDependencies deps;
    deps.cluster = &cluster_;
    deps.model = &model_;
    deps.logger = &logger_;
    deps.train = &train_;
    deps.control = &control_;
    deps.open_source = [this](const Lease&) {
      return std::make_unique<EndlessSource>(&train_);
    };
    deps.connect = [this](const ClusterView&, const Life&) {
      return std::vector<std::shared_ptr<ParameterService>>{
          std::make_shared<SilentShard>(&log_)};
    };
    deps.make_exchange = [](ShardedClient* shards, ExchangeStart) {
      return std::make_unique<PushExchange>(shards);
    };
    deps.usage = [] { return ResourceUsage{}; };
    if (change != nullptr) change(&deps);
    loop_ = std::make_unique<WorkerLoop>(std::move(options), std::move(deps));
    loop_->Start([this](MemberEnd end) { end_ = std::move(end); });
    Settle();
  }

  void Settle() { simulator_.RunFor(absl::Milliseconds(1)); }
  void StartTraining() {
    cluster_.Tell(ClusterView{1, {{"h:1", {3, 1}}}});
    Settle();
    EXPECT_EQ(cluster_.Heard<LeaseRequest>(), 1);
    cluster_.Tell(LeaseGrant{});
    Settle();
    EXPECT_GT(log_.calls, 0);
    EXPECT_EQ(log_.alive, 1);
  }

  Simulator simulator_;
  SimulatedExecutor control_{&simulator_};
  SimulatedExecutor train_{&simulator_};
  Logger logger_{{"", LogLevel::kError}};
  ScriptedCluster cluster_{&control_};
  SilentShard::Log log_;
  IdleModel model_;
  std::unique_ptr<WorkerLoop> loop_;
  std::optional<MemberEnd> end_;
};

// Worker 1 of a job in which every rank has a copy of everything.
class RankOneLoopTest : public WorkerLoopTest {
 protected:
  RankOneLoopTest() : WorkerLoopTest(/*index=*/1, /*replicated=*/0) {}
};

// A worker that pulls nothing beyond its pace.
class PacedLoopTest : public WorkerLoopTest {
 protected:
  PacedLoopTest() : WorkerLoopTest(/*index=*/0, /*replicated=*/-1,
                                   /*depth=*/0) {}
};

TEST_F(PacedLoopTest, AWorkerKeepsToThePaceThatItIsSent) {
  cluster_.Tell(ClusterView{1, {{"h:1", {3, 1}}}});
  cluster_.Tell(Pace{0});
  cluster_.Tell(LeaseGrant{});
  Settle();
  EXPECT_EQ(log_.calls, 0);
  cluster_.Tell(Pace{1});
  Settle();
  EXPECT_EQ(log_.calls, 1);
}

TEST_F(RankOneLoopTest, AWorkerUsesTheReplicaOfItsRank) {
  cluster_.Tell(ClusterView{1, {{"h:1", {3, 1}}, {"h:2", {3, 2}}}});
  cluster_.Tell(LeaseGrant{});
  Settle();
  EXPECT_GT(log_.calls, 0);
  EXPECT_EQ(log_.shard, (Life{3, 2}));
}

TEST_F(RankOneLoopTest, AnErrorOfTheReplicaNamesIt) {
  log_.fails = true;
  cluster_.Tell(ClusterView{1, {{"h:1", {3, 1}}, {"h:2", {3, 2}}}});
  cluster_.Tell(LeaseGrant{});
  Settle();
  const auto* const failure = std::get_if<Failure>(&cluster_.heard.back());
  ASSERT_NE(failure, nullptr);
  EXPECT_THAT(std::string(failure->status.message()),
              testing::HasSubstr("copy of shard 0: no such table"));
}

TEST_F(RankOneLoopTest, AViewWithoutAReplicaOfTheRankIsRefused) {
  cluster_.Tell(ClusterView{1, {{"h:1", {3, 1}}}});
  Settle();
  EXPECT_EQ(cluster_.Heard<Failure>(), 1);
  EXPECT_EQ(cluster_.Heard<LeaseRequest>(), 0);
}

TEST_F(WorkerLoopTest, AViewOfAnotherNumberOfServersIsRefused) {
  cluster_.Tell(ClusterView{1, {{"h:1", {3, 1}}, {"h:2", {3, 2}}}});
  Settle();
  EXPECT_EQ(cluster_.Heard<Failure>(), 1);
}

TEST_F(WorkerLoopTest, TheCallsOfALifeThatEndedAreCancelled) {
  StartTraining();
  const int calls = log_.calls;
  cluster_.EndSession(absl::FailedPreconditionError("taken for dead"));
  Settle();
  EXPECT_EQ(cluster_.lives, 2u);
  EXPECT_EQ(log_.cancelled, calls);
  EXPECT_EQ(log_.alive, 0);
  simulator_.RunFor(absl::Seconds(20));
  EXPECT_EQ(log_.calls, calls);
}

// As where a shard has a new life.
TEST_F(WorkerLoopTest, TheCallsUnderAViewThatIsReplacedAreCancelled) {
  StartTraining();
  const int calls = log_.calls;
  cluster_.Tell(ClusterView{1, {{"h:1", {3, 5}}}});
  Settle();
  EXPECT_EQ(log_.cancelled, calls);
  EXPECT_EQ(log_.alive, 1) << "the client of the new view";
}

// As where a shard has a new life while a checkpoint is saved.
TEST_F(WorkerLoopTest, AViewThatComesToAHeldWorkerKeepsItHeld) {
  StartTraining();
  cluster_.Tell(Hold{7});
  Settle();
  EXPECT_EQ(cluster_.Heard<Held>(), 0) << "batches are in flight";
  cluster_.Tell(ClusterView{1, {{"h:1", {3, 5}}}});
  Settle();
  EXPECT_EQ(cluster_.Heard<Held>(), 1) << "none is, under the new view";
  const int calls = log_.calls;
  cluster_.Tell(Resume{7});
  cluster_.Tell(LeaseGrant{});
  Settle();
  EXPECT_GT(log_.calls, calls);
}

// It says so again: the trainer of the view is another one.
TEST_F(WorkerLoopTest, AWorkerThatIsHeldBeforeAViewBeginsNoBatch) {
  cluster_.Tell(Hold{7});
  Settle();
  EXPECT_EQ(cluster_.Heard<Held>(), 1);
  cluster_.Tell(ClusterView{1, {{"h:1", {3, 1}}}});
  Settle();
  EXPECT_EQ(cluster_.Heard<Held>(), 2);
}

TEST_F(WorkerLoopTest, AHeldWorkerTrainsTheLeaseThatItIsGiven) {
  cluster_.Tell(ClusterView{1, {{"h:1", {3, 1}}}});
  cluster_.Tell(Hold{7});
  Settle();
  EXPECT_EQ(cluster_.Heard<Held>(), 1);
  const int requests = cluster_.Heard<LeaseRequest>();
  cluster_.Tell(LeaseGrant{});
  Settle();
  EXPECT_GT(log_.calls, 0);
  EXPECT_EQ(cluster_.Heard<LeaseRequest>(), requests);
}

TEST_F(WorkerLoopTest, TheStatesOfATrainThreadAddUpToItsTimeInTheJob) {
  simulator_.RunFor(absl::Seconds(2));
  const auto sum = [this] {
    const StateSeconds& seconds = cluster_.heartbeat.time.seconds;
    return std::accumulate(seconds.begin(), seconds.end(), 0.0);
  };
  EXPECT_EQ(sum(), 0) << "no trainer yet";
  const absl::Time start = control_.Now();
  StartTraining();
  simulator_.RunFor(absl::Seconds(10));
  EXPECT_GT(sum(), 9);
  EXPECT_LE(sum(), absl::ToDoubleSeconds(control_.Now() - start));
  const StateSeconds& seconds = cluster_.heartbeat.time.seconds;
  EXPECT_GT(seconds[static_cast<size_t>(StepState::kWaitPull)], 9)
      << "the wait that is under way counts";
  // Another trainer of the same life goes on where this one ends.
  cluster_.Tell(ClusterView{1, {{"h:1", {3, 5}}}});
  simulator_.RunFor(absl::Seconds(10));
  EXPECT_GT(sum(), 19);
  EXPECT_LE(sum(), absl::ToDoubleSeconds(control_.Now() - start));
  // A new life begins from zero.
  cluster_.EndSession(absl::FailedPreconditionError("taken for dead"));
  simulator_.RunFor(absl::Seconds(2));
  EXPECT_EQ(sum(), 0);
}

struct CountedParts {
  PayloadCounters payload_;
};

class CountedLoopTest : public CountedParts, public WorkerLoopTest {
 protected:
  CountedLoopTest()
      : WorkerLoopTest(0, -1, 1, [this](WorkerLoopDependencies* deps) {
          deps->bytes = &payload_;
        }) {}
};

// The coordinator adds up the lives of a worker.
TEST_F(CountedLoopTest, TheBytesOfALifeAreThoseSinceTheHeartbeatBefore) {
  payload_.pull.sent = 100;
  payload_.push.sent = 7;
  simulator_.RunFor(absl::Seconds(2));
  EXPECT_EQ(cluster_.heartbeat.bytes.pull.sent, 100u);
  EXPECT_EQ(cluster_.heartbeat.bytes.push.sent, 7u);
  payload_.pull.sent = 130;  // not told before the life ends
  cluster_.EndSession(absl::FailedPreconditionError("taken for dead"));
  Settle();
  payload_.ring.received = 5;
  simulator_.RunFor(absl::Seconds(2));
  ASSERT_EQ(cluster_.lives, 2u);
  EXPECT_EQ(cluster_.heartbeat.bytes.pull.sent, 30u);
  EXPECT_EQ(cluster_.heartbeat.bytes.push.sent, 0u);
  EXPECT_EQ(cluster_.heartbeat.bytes.ring.received, 5u);
}

// ---- Generations

// Answers Retire when the test says so.
struct Retiring {
  int made = 0;
  std::vector<uint64_t> generations;           // of the exchanges
  std::vector<std::shared_ptr<StepMemory>> given;
  std::vector<GradientExchange::Retired> retired;
  int cancelled = 0;
};

class RetiringExchange final : public GradientExchange {
 public:
  explicit RetiringExchange(Retiring* shared) : shared_(shared) {}
  void Begin(TrainStep*) override {}
  void Finish(TrainStep*, Done<StepEnd>) override {}
  void EndLease(const Lease&) override {}
  void Retire(Retired done) override {
    shared_->retired.push_back(std::move(done));
  }
  void Cancel() override { ++shared_->cancelled; }

 private:
  Retiring* const shared_;
};

// What the loop of a GenerationLoopTest uses, so it is made before the loop.
struct GenerationParts {
  Retiring exchanges_;
  RankBoard board_;
  int ports_ = 0;
  size_t ranks_ = 0;  // of the newest view
  Logger warns_{{"", LogLevel::kWarn}};
};

// Worker 2 of three ranks in a ring.
class GenerationLoopTest : public GenerationParts, public WorkerLoopTest {
 protected:
  GenerationLoopTest()
      : WorkerLoopTest(/*index=*/2, /*replicated=*/0, /*depth=*/0,
                       [this](WorkerLoopDependencies* deps) { Change(deps); }) {
  }

  void Change(WorkerLoopDependencies* deps) {
    deps->make_exchange = [this](ShardedClient*, ExchangeStart start) {
      exchanges_.generations.push_back(start.generation);
      exchanges_.given.push_back(start.newest);
      return std::make_unique<RetiringExchange>(&exchanges_);
    };
    deps->next_ring = [this] { return absl::StrCat("h:", ++ports_); };
    deps->board = &board_;
    deps->logger = &warns_;
    deps->connect = [this, connect = std::move(deps->connect)](
                        const ClusterView& view, const Life& own) mutable {
      ranks_ = view.ranks.size();
      return connect(view, own);
    };
    deps->rank_name = [this](int rank) {
      return absl::StrCat("rank ", rank, " of ", ranks_);
    };
  }
  // The workers by rank.
  static ClusterView ViewOf(uint64_t generation, std::vector<Life> workers,
                            int servers) {
    ClusterView view{1, {}, {}, generation};
    for (int s = 0; s < servers; ++s) {
      view.ps.push_back({"", {3, static_cast<uint32_t>(s + 1)}});
    }
    for (const Life& life : workers) view.ranks.push_back({"h:1", life});
    return view;
  }
  void Answer(size_t which, absl::StatusOr<std::shared_ptr<StepMemory>> what) {
    std::move(exchanges_.retired[which])(std::move(what));
    Settle();
  }
  std::vector<GenerationReady> Ready() const {
    std::vector<GenerationReady> ready;
    for (const ProcessMessage& message : cluster_.heard) {
      const auto* one = std::get_if<GenerationReady>(&message);
      if (one != nullptr) ready.push_back(*one);
    }
    return ready;
  }
};

TEST_F(GenerationLoopTest, AWorkerAnswersOnceItsTrainerIsRetired) {
  cluster_.Tell(ViewOf(1, {{9, 1}, {9, 2}, cluster_.life()}, 3));
  cluster_.Tell(LeaseGrant{});
  Settle();
  cluster_.Tell(NewGeneration{2, {}});
  Settle();
  ASSERT_EQ(exchanges_.retired.size(), 1u);
  EXPECT_EQ(Ready().size(), 0u) << "its pushes may be on their way";
  const int leases = cluster_.Heard<LeaseRequest>();
  const size_t heard = cluster_.heard.size();
  const auto memory = std::make_shared<StepMemory>();
  Answer(0, memory);
  ASSERT_EQ(Ready().size(), 1u);
  EXPECT_EQ(Ready()[0].number, 2u);
  EXPECT_EQ(Ready()[0].ring_address, "h:1");
  EXPECT_EQ(cluster_.heard.size(), heard + 1);
  EXPECT_EQ(cluster_.lives, 1u);
  // Of the lost worker only its server is still in the view.
  cluster_.Tell(ViewOf(2, {{9, 1}, cluster_.life()}, 3));
  cluster_.Tell(LeaseGrant{});
  Settle();
  EXPECT_EQ(exchanges_.generations, (std::vector<uint64_t>{1, 2}));
  EXPECT_EQ(exchanges_.given[1], memory);
  EXPECT_EQ(cluster_.Heard<LeaseRequest>(), leases + 1);
  EXPECT_EQ(log_.shard, (Life{3, 3})) << "its own replica";
}

TEST_F(GenerationLoopTest, AServerIsFoundByItsRankIfTheViewHasNoOthers) {
  cluster_.Tell(ViewOf(2, {{9, 1}, cluster_.life()}, 2));
  cluster_.Tell(LeaseGrant{});
  Settle();
  EXPECT_EQ(log_.shard, (Life{3, 2}));
}

TEST_F(GenerationLoopTest, OnlyTheNewestGenerationIsAnswered) {
  cluster_.Tell(ViewOf(1, {{9, 1}, {9, 2}, cluster_.life()}, 3));
  Settle();
  cluster_.Tell(NewGeneration{2, {}});
  Settle();
  cluster_.Tell(NewGeneration{3, {}});
  cluster_.Tell(ViewOf(2, {{9, 1}, cluster_.life()}, 3));
  Settle();
  EXPECT_EQ(exchanges_.retired.size(), 1u);
  Answer(0, nullptr);
  ASSERT_EQ(Ready().size(), 1u);
  EXPECT_EQ(Ready()[0].number, 3u);
  // And again before the view of the third one has come.
  cluster_.Tell(NewGeneration{4, {}});
  Settle();
  ASSERT_EQ(Ready().size(), 2u);
  EXPECT_EQ(Ready()[1].number, 4u);
  EXPECT_NE(Ready()[1].ring_address, Ready()[0].ring_address);
  cluster_.Tell(ViewOf(3, {{9, 1}, cluster_.life()}, 3));
  Settle();
  EXPECT_EQ(exchanges_.generations, (std::vector<uint64_t>{1}));
}

TEST_F(GenerationLoopTest, AWorkerWithoutATrainerAnswersAtOnce) {
  cluster_.Tell(NewGeneration{2, {}});
  Settle();
  ASSERT_EQ(Ready().size(), 1u);
  EXPECT_EQ(Ready()[0].number, 2u);
}

TEST_F(GenerationLoopTest, AFailingRetirementEndsTheJob) {
  cluster_.Tell(ViewOf(1, {{9, 1}, {9, 2}, cluster_.life()}, 3));
  Settle();
  cluster_.Tell(NewGeneration{2, {}});
  Settle();
  Answer(0, absl::OutOfRangeError("no room"));
  EXPECT_EQ(Ready().size(), 0u);
  EXPECT_EQ(cluster_.Heard<Failure>(), 1);
}

// The trainer is abandoned, so that the calls of its exchange end.
TEST_F(GenerationLoopTest, ALifeMayEndWhileItsTrainerRetires) {
  cluster_.Tell(ViewOf(1, {{9, 1}, {9, 2}, cluster_.life()}, 3));
  Settle();
  cluster_.Tell(NewGeneration{2, {}});
  Settle();
  cluster_.EndSession(absl::FailedPreconditionError("taken for dead"));
  Settle();
  EXPECT_EQ(exchanges_.cancelled, 1);
  EXPECT_EQ(log_.alive, 0);
  Answer(0, nullptr);
  EXPECT_EQ(Ready().size(), 0u);
}

TEST_F(GenerationLoopTest, ALostRankIsNamedWithWhereThisWorkerStood) {
  cluster_.Tell(ViewOf(1, {{9, 1}, {9, 2}, cluster_.life()}, 3));
  Settle();
  board_.SetStep(7);
  board_.SetRound(2, /*rows=*/true);
  board_.EnterExchange(RankBoard::Phase::kRound, simulator_.Now());
  board_.WaitFor(1, 1);
  cluster_.Tell(NewGeneration{2, {}});
  Settle();
  Answer(0, nullptr);
  board_.EnterExchange(RankBoard::Phase::kNone, simulator_.Now());
  testing::internal::CaptureStderr();
  cluster_.Tell(ViewOf(2, {{9, 1}, cluster_.life()}, 3));
  Settle();
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              testing::HasSubstr(
                  "rank 1 of 3 is lost, and the job goes on with 2 workers; "
                  "before that this worker at step 7 sums dense bucket 2 of 2 "
                  "for 0, and nothing comes from rank 1 of 3"));
}

TEST_F(GenerationLoopTest, AHeartbeatTellsWhereTheWorkerStands) {
  cluster_.Tell(ViewOf(1, {{9, 1}, {9, 2}, cluster_.life()}, 3));
  simulator_.RunFor(absl::Seconds(2));
  EXPECT_EQ(cluster_.heartbeat.standing.phase, "waits for a lease");
}

// ---- Stops

TEST_F(WorkerLoopTest, AWorkerThatIsToSaveTheJobAsksAndTrainsOn) {
  StartTraining();
  loop_->Stop(absl::CancelledError("SIGTERM"), absl::Seconds(20));
  loop_->Stop(absl::CancelledError("SIGTERM"), absl::Seconds(20));
  Settle();
  EXPECT_EQ(cluster_.Heard<StopRequest>(), 1);
  const int calls = log_.calls;
  cluster_.Tell(ClusterView{1, {{"h:1", {3, 5}}}});
  cluster_.Tell(LeaseGrant{});
  Settle();
  EXPECT_GT(log_.calls, calls) << "it serves until the coordinator says so";
  cluster_.Tell(Hold{7});
  Settle();
  EXPECT_EQ(cluster_.Heard<Bye>(), 0);
  cluster_.Tell(JobEnd{absl::CancelledError("saved"), ""});
  Settle();
  EXPECT_EQ(cluster_.Heard<Bye>(), 1);
  cluster_.EndSession(absl::OkStatus());
  Settle();
  ASSERT_TRUE(end_.has_value());
  EXPECT_TRUE(end_->job_over);
  EXPECT_EQ(end_->status, absl::CancelledError("saved"));
}

// The coordinator may not have heard the request of the life that ended.
TEST_F(WorkerLoopTest, TheRequestToStopIsSentAgainInTheNextLife) {
  StartTraining();
  loop_->Stop(absl::CancelledError("SIGTERM"), absl::Seconds(20));
  Settle();
  cluster_.EndSession(absl::FailedPreconditionError("taken for dead"));
  Settle();
  EXPECT_EQ(cluster_.lives, 2u);
  EXPECT_EQ(cluster_.Heard<StopRequest>(), 2);
}

TEST_F(WorkerLoopTest, AWorkerBetweenTwoLivesAsksWhenItHasJoinedAgain) {
  StartTraining();
  cluster_.refuse = absl::UnavailableError("busy");
  cluster_.EndSession(absl::FailedPreconditionError("taken for dead"));
  Settle();
  loop_->Stop(absl::CancelledError("SIGTERM"), absl::Seconds(20));
  simulator_.RunFor(absl::Seconds(2));
  EXPECT_FALSE(end_.has_value()) << "it has not left";
  cluster_.refuse = absl::OkStatus();
  simulator_.RunFor(absl::Seconds(3));
  EXPECT_EQ(cluster_.lives, 2u);
  EXPECT_EQ(cluster_.Heard<StopRequest>(), 1);
  EXPECT_EQ(cluster_.Heard<Bye>(), 0);
}

TEST_F(WorkerLoopTest, AWorkerWhoseRequestHasNoEffectLeavesInTheEnd) {
  loop_->Stop(absl::CancelledError("SIGTERM"), absl::Seconds(20));
  simulator_.RunFor(absl::Seconds(24));
  EXPECT_EQ(cluster_.Heard<Bye>(), 0);
  simulator_.RunFor(absl::Seconds(2));
  EXPECT_EQ(cluster_.Heard<Bye>(), 1);
}

TEST_F(WorkerLoopTest, AWorkerOfAJobThatIsNotSavedLeaves) {
  loop_->Stop(absl::CancelledError("SIGTERM"));
  Settle();
  EXPECT_EQ(cluster_.Heard<StopRequest>(), 0);
  EXPECT_EQ(cluster_.Heard<Bye>(), 1);
}

}  // namespace
}  // namespace shoal
