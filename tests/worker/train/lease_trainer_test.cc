#include "worker/train/lease_trainer.h"

#include <cmath>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "gtest/gtest.h"
#include "tests/harness/simulated_executor.h"
#include "worker/train/push_exchange.h"

namespace shoal {
namespace {

constexpr int kFields = 2;
constexpr int kDim = 3;

// One table of 10 rows of 3 floats over two shards, no dense variable.
ShardMap TwoShards() {
  ShardMap map;
  map.num_shards = 2;
  map.tables = {{PartitionKind::kMod, 10, 2}};
  return map;
}

// A shard that answers after a delay, and says in a log what it was asked.
class FakeShard : public ParameterService {
 public:
  FakeShard(Executor* executor, std::vector<std::string>* log)
      : executor_(executor), log_(log) {}

  void Pull(PullRequest request, absl::Duration,
            Done<PullReply> done) override {
    log_->push_back(request.read_only ? "read" : "pull");
    for (const TablePull& table : request.tables) {
      for (size_t i = 0; i < table.ids.size(); ++i) {
        for (int d = 0; d < kDim; ++d) {
          table.values[i * kDim + d] = static_cast<float>(table.ids[i]);
        }
      }
    }
    Answer(std::move(done), PullReply{{{1, 1}, pushes}, 0}, &fail_pulls);
  }

  void Push(PushRequest request, absl::Duration,
            Done<PushReply> done) override {
    log_->push_back("push " + ToString(request.batch));
    ++pushes;
    rejected += request.rejected;
    pushed_tables += request.tables.size();
    last_push_lease = request.lease;
    const Verdict verdict =
        request.rejected ? Verdict::kRejected : Verdict::kApplied;
    Answer(std::move(done), PushReply{verdict, false, {}, 0}, &fail_pushes);
  }

  void Stats(StatsRequest, absl::Duration, Done<StatsReply>) override {}

  uint64_t pushes = 0;
  uint64_t rejected = 0;       // pushes that said so
  uint64_t pushed_tables = 0;  // over all pushes
  uint64_t last_push_lease = 0;
  std::deque<absl::Status> fail_pulls;  // answers of the next calls
  std::deque<absl::Status> fail_pushes;

 private:
  template <typename Reply>
  void Answer(Done<Reply> done, Reply reply, std::deque<absl::Status>* fail) {
    absl::StatusOr<Reply> answer = reply;
    if (!fail->empty()) {
      if (!fail->front().ok()) answer = fail->front();
      fail->pop_front();
    }
    executor_->PostAfter(absl::Milliseconds(1),
                         [done = std::move(done), answer]() mutable {
                           std::move(done)(std::move(answer));
                         });
  }

  Executor* const executor_;
  std::vector<std::string>* const log_;
};

// Logs its calls; its score is the first row's first weight.
class FakeModel : public Model {
 public:
  explicit FakeModel(std::vector<std::string>* log) : log_(log) {
    spec_.tables.push_back({"t", 10, {{"w", kDim, {}, {}}}});
  }
  const ModelSpec& spec() const override { return spec_; }
  void Predict(const ModelInput& input, absl::Span<float> logits) override {
    log_->push_back("predict");
    Score(input, logits);
  }
  void ForwardBackward(const ModelInput& input, ModelOutput* output) override {
    log_->push_back("compute " + ToString(input.batch));
    Score(input, output->logits);
    const absl::Span<float> d_rows = output->d_rows[0];
    std::fill(d_rows.begin(), d_rows.end(), 1.0f);
    output->loss_sum = input.batch_size;
    if (input.batch.index == bad_loss) output->loss_sum = NAN;
    if (input.batch.index == bad_gradient) d_rows.back() = INFINITY;
    if (on_compute) on_compute();
  }
  std::function<void()> on_compute;
  uint32_t bad_loss = ~0u;  // index of the batch whose loss is no number
  uint32_t bad_gradient = ~0u;

 private:
  static void Score(const ModelInput& input, absl::Span<float> logits) {
    const TableInput& table = input.tables[0];
    for (int i = 0; i < input.batch_size; ++i) {
      logits[i] = table.rows[table.row_index[i * kFields] * kDim];
    }
  }
  std::vector<std::string>* const log_;
  ModelSpec spec_;
};

// `batches` batches of two examples with ids that differ by batch.
class FakeSource : public BatchSource {
 public:
  // Counts itself in *open while it exists. A stuck one never completes.
  FakeSource(const Lease& lease, int batches, Executor* executor, int* open,
             bool stuck)
      : batches_(batches), executor_(executor), open_(open), stuck_(stuck) {
    ++*open_;
    report_.purpose = lease.purpose;
    report_.epoch = lease.epoch;
    report_.piece = lease.piece.index;
    report_.batches = batches;
    report_.examples = 2 * static_cast<uint64_t>(batches);
    for (uint32_t i = 0; lease.Skips(i); ++i) next_ = static_cast<int>(i) + 1;
  }
  ~FakeSource() override { --*open_; }
  void Next(Done<std::optional<Batch>> done) override {
    if (stuck_) {
      pending_ = std::move(done);
      return;
    }
    std::optional<Batch> batch;
    if (next_ < batches_) {
      batch.emplace();
      batch->id = {report_.epoch, report_.piece, static_cast<uint32_t>(next_)};
      batch->examples.labels = {0, 1};
      batch->examples.offsets = {0, 2, 3};
      batch->examples.ids = {static_cast<FeatureId>(next_), 9, 7};
      batch->examples.values = {1, 1, 1};
      ++next_;
    }
    executor_->Post(
        [done = std::move(done), batch = std::move(batch)]() mutable {
          std::move(done)(std::move(batch));
        });
  }
  void Recycle(Batch) override {}
  const PieceReport& report() const override { return report_; }

 private:
  const int batches_;
  Executor* const executor_;
  int* const open_;
  const bool stuck_;
  Done<std::optional<Batch>> pending_;
  int next_ = 0;
  PieceReport report_;
};

class LeaseTrainerTest : public testing::Test {
 protected:
  uint64_t max_scores = 1000;
  absl::Duration score_interval = absl::Seconds(9);
  void Start(int depth) {
    shards = {std::make_shared<FakeShard>(&strand, &log),
              std::make_shared<FakeShard>(&strand, &log)};
    ShardedClientOptions client;
    client.map = TwoShards();
    client.shard_lives = {{1, 1}, {1, 2}};
    client.row_dims = {kDim};
    LeaseTrainerOptions options;
    options.field_size = kFields;
    options.pipeline_depth = depth;
    options.scores.max_scores = max_scores;
    options.scores.interval = score_interval;
    LeaseTrainerDependencies deps;
    deps.model = &model;
    deps.progress = &progress;
    deps.logger = &logger;
    deps.strand = &strand;
    deps.open_source = &open_source;
    deps.telemetry = &telemetry;
    auto sharded = std::make_unique<ShardedClient>(
        client,
        std::vector<std::shared_ptr<ParameterService>>(shards.begin(),
                                                       shards.end()),
        &strand);
    auto exchange = std::make_unique<PushExchange>(sharded.get());
    trainer = std::make_shared<LeaseTrainer>(
        options, deps, std::move(sharded), std::move(exchange),
        [this](ProcessMessage m) { sent.push_back(std::move(m)); });
    trainer->Start();
  }

  Lease MakeLease(uint64_t number, LeasePurpose purpose) {
    Lease lease;
    lease.number = number;
    lease.purpose = purpose;
    lease.piece.index = static_cast<uint32_t>(number);
    lease.batch_size = 2;
    return lease;
  }

  template <typename T>
  int Sent() const {
    int count = 0;
    for (const ProcessMessage& m : sent) count += std::holds_alternative<T>(m);
    return count;
  }

  Simulator simulator;
  SimulatedExecutor strand{&simulator};
  const absl::Time begin = strand.Now();
  Logger logger{{"", LogLevel::kError}};
  std::vector<std::string> log;
  FakeModel model{&log};
  ProgressMeter progress;
  Telemetry all_metrics;
  WorkerTelemetry telemetry = WorkerTelemetry::Create(&all_metrics);
  int batches_in_piece = 3;
  int open_sources = 0;
  bool stuck_sources = false;
  absl::AnyInvocable<absl::StatusOr<std::unique_ptr<BatchSource>>(const Lease&)>
      open_source = [this](const Lease& lease)
      -> absl::StatusOr<std::unique_ptr<BatchSource>> {
    return std::make_unique<FakeSource>(lease, batches_in_piece, &strand,
                                        &open_sources, stuck_sources);
  };
  std::vector<std::shared_ptr<FakeShard>> shards;
  std::shared_ptr<LeaseTrainer> trainer;
  std::vector<ProcessMessage> sent;
};

TEST_F(LeaseTrainerTest, TrainsEveryBatchOnceAndEndsTheLease) {
  Start(1);
  ASSERT_EQ(Sent<LeaseRequest>(), 1);
  trainer->AddLease(MakeLease(4, LeasePurpose::kTrain));
  simulator.RunUntilIdle();
  EXPECT_EQ(shards[0]->pushes, 3u);
  EXPECT_EQ(shards[1]->pushes, 3u);
  EXPECT_EQ(shards[0]->last_push_lease, 4u);
  EXPECT_EQ(Sent<PieceReport>(), 1);
  EXPECT_EQ(Sent<LeaseDone>(), 1);
  EXPECT_EQ(Sent<LeaseRequest>(), 2);
  EXPECT_TRUE(std::holds_alternative<LeaseDone>(sent.back()));
  EXPECT_EQ(progress.Snapshot().examples, 6u);
  EXPECT_EQ(progress.Snapshot().batches, 3u);
}

TEST_F(LeaseTrainerTest, AtDepthZeroAPullFollowsTheAcknowledgedPush) {
  Start(0);
  trainer->AddLease(MakeLease(0, LeasePurpose::kTrain));
  simulator.RunUntilIdle();
  EXPECT_EQ(log, (std::vector<std::string>{
                     "pull", "pull", "compute (0,0,0)", "push (0,0,0)",
                     "push (0,0,0)", "pull", "pull", "compute (0,0,1)",
                     "push (0,0,1)", "push (0,0,1)", "pull", "pull",
                     "compute (0,0,2)", "push (0,0,2)", "push (0,0,2)"}));
  EXPECT_EQ(strand.Now() - begin, absl::Milliseconds(6));
}

TEST_F(LeaseTrainerTest, AtDepthOneAPullGoesOutBesideThePush) {
  Start(1);
  trainer->AddLease(MakeLease(0, LeasePurpose::kTrain));
  simulator.RunUntilIdle();
  EXPECT_EQ(log, (std::vector<std::string>{
                     "pull", "pull", "compute (0,0,0)", "push (0,0,0)",
                     "push (0,0,0)", "pull", "pull", "compute (0,0,1)",
                     "push (0,0,1)", "push (0,0,1)", "pull", "pull",
                     "compute (0,0,2)", "push (0,0,2)", "push (0,0,2)"}));
  // Each answer takes a millisecond: a first pull, two times a pull beside a
  // push, and a last push.
  EXPECT_EQ(strand.Now() - begin, absl::Milliseconds(4));
}

TEST_F(LeaseTrainerTest, AtDepthTwoTheNextPullIsOutDuringTheComputation) {
  Start(2);
  std::vector<int> pulls_before_compute;
  model.on_compute = [this, &pulls_before_compute] {
    int pulls = 0;
    for (const std::string& line : log) pulls += line == "pull";
    pulls_before_compute.push_back(pulls / 2);
  };
  trainer->AddLease(MakeLease(0, LeasePurpose::kTrain));
  simulator.RunUntilIdle();
  EXPECT_EQ(pulls_before_compute, (std::vector<int>{2, 3, 3}));
}

TEST_F(LeaseTrainerTest, EvaluatesInOrderAndReadOnly) {
  Start(1);
  trainer->AddLease(MakeLease(2, LeasePurpose::kEvaluate));
  simulator.RunUntilIdle();
  ASSERT_EQ(Sent<EvalResult>(), 1);
  for (const ProcessMessage& m : sent) {
    if (const auto* result = std::get_if<EvalResult>(&m)) {
      EXPECT_EQ(result->lease, 2u);
      // The score is the row's first weight, which is its id.
      EXPECT_EQ(result->logits, (std::vector<float>{0, 7, 1, 7, 2, 7}));
      EXPECT_EQ(result->labels, (std::vector<uint8_t>{0, 1, 0, 1, 0, 1}));
    }
  }
  EXPECT_EQ(shards[0]->pushes, 0u);
  for (const std::string& line : log) EXPECT_NE(line, "pull");
}

TEST_F(LeaseTrainerTest, NoMessageHoldsMoreScoresThanItMay) {
  max_scores = 5;  // of six
  Start(1);
  trainer->AddLease(MakeLease(2, LeasePurpose::kEvaluate));
  simulator.RunUntilIdle();
  ASSERT_EQ(Sent<EvalResult>(), 2);
  std::vector<EvalResult> results;
  for (const ProcessMessage& m : sent) {
    if (const auto* r = std::get_if<EvalResult>(&m)) results.push_back(*r);
  }
  EXPECT_EQ(results[0].logits, (std::vector<float>{0, 7, 1, 7, 2}));
  EXPECT_EQ(results[0].offset, 0u);
  EXPECT_TRUE(results[0].more);
  EXPECT_EQ(results[1].logits, (std::vector<float>{7}));
  EXPECT_EQ(results[1].labels, (std::vector<uint8_t>{1}));
  EXPECT_EQ(results[1].offset, 5u);
  EXPECT_FALSE(results[1].more);
  EXPECT_TRUE(std::holds_alternative<LeaseDone>(sent.back()));
}

TEST_F(LeaseTrainerTest, ScoresThatWaitedLongAreSent) {
  score_interval = absl::ZeroDuration();
  Start(1);
  trainer->AddLease(MakeLease(2, LeasePurpose::kEvaluate));
  simulator.RunUntilIdle();
  // After each batch, and at the end.
  EXPECT_EQ(Sent<EvalResult>(), 4);
}

TEST_F(LeaseTrainerTest, ScoresFollowThoseThatAreSkipped) {
  Start(1);
  for (const int skipped : {2, 3}) {
    sent.clear();
    Lease lease = MakeLease(2, LeasePurpose::kEvaluate);
    lease.skip = {static_cast<uint8_t>((1 << skipped) - 1)};
    trainer->AddLease(lease);
    simulator.RunUntilIdle();
    ASSERT_EQ(Sent<EvalResult>(), 1);
    for (const ProcessMessage& m : sent) {
      const auto* result = std::get_if<EvalResult>(&m);
      if (result == nullptr) continue;
      EXPECT_EQ(result->offset, static_cast<uint64_t>(2 * skipped));
      EXPECT_EQ(result->labels.size(), static_cast<size_t>(6 - 2 * skipped));
      EXPECT_FALSE(result->more);
    }
  }
}

TEST_F(LeaseTrainerTest, AbandonedItLetsGoOfWhatIsBeingRead) {
  stuck_sources = true;
  Start(1);
  trainer->AddLease(MakeLease(0, LeasePurpose::kTrain));
  simulator.RunUntilIdle();
  EXPECT_EQ(open_sources, 1);
  trainer->Abandon();
  EXPECT_EQ(open_sources, 0);
}

TEST_F(LeaseTrainerTest, ACallThatFailsForAPassingReasonIsSentAgain) {
  batches_in_piece = 1;
  Start(1);
  shards[0]->fail_pulls = {absl::UnavailableError("starting")};
  shards[1]->fail_pushes = {absl::DeadlineExceededError("slow"),
                            absl::ResourceExhaustedError("full")};
  trainer->AddLease(MakeLease(0, LeasePurpose::kTrain));
  simulator.RunUntilIdle();
  EXPECT_EQ(Sent<LeaseDone>(), 1);
  EXPECT_EQ(Sent<Failure>(), 0);
  // The batch was computed once and pushed three times.
  EXPECT_EQ(shards[1]->pushes, 3u);
  int computed = 0;
  for (const std::string& line : log) computed += line == "compute (0,0,0)";
  EXPECT_EQ(computed, 1);
}

TEST_F(LeaseTrainerTest, ABatchThatIsNotFiniteIsRejectedOnEveryShard) {
  model.bad_loss = 0;
  model.bad_gradient = 2;  // in a row of shard 1; shard 0's is sound
  Start(1);
  trainer->AddLease(MakeLease(0, LeasePurpose::kTrain));
  simulator.RunUntilIdle();
  for (const auto& shard : shards) {
    EXPECT_EQ(shard->pushes, 3u);
    EXPECT_EQ(shard->rejected, 2u);
  }
  // The sound batch alone brought rows, all of shard 1.
  EXPECT_EQ(shards[0]->pushed_tables, 0u);
  EXPECT_EQ(shards[1]->pushed_tables, 1u);
  EXPECT_EQ(Sent<LeaseDone>(), 1);
  EXPECT_EQ(progress.Snapshot().batches, 1u);
  EXPECT_EQ(progress.Snapshot().examples, 2u);
  EXPECT_EQ(progress.Snapshot().loss_sum, 2.0);
  EXPECT_EQ(progress.Snapshot().recent_examples, 2u);
}

// A shard has rejected it in a pass of a worker that is gone; this pass finds
// nothing wrong with it.
TEST_F(LeaseTrainerTest, ABatchThatTheLeaseNamesAsRejectedIsPushedAsSuch) {
  Start(1);
  Lease lease = MakeLease(0, LeasePurpose::kTrain);
  lease.rejected = {0b010};
  trainer->AddLease(lease);
  simulator.RunUntilIdle();
  for (const auto& shard : shards) {
    EXPECT_EQ(shard->pushes, 3u);
    EXPECT_EQ(shard->rejected, 1u);
  }
  EXPECT_EQ(Sent<LeaseDone>(), 1);
  EXPECT_EQ(progress.Snapshot().batches, 2u);
  EXPECT_EQ(progress.Snapshot().recent_examples, 4u);
}

TEST_F(LeaseTrainerTest, AShardThatStaysFullIsAFailureInTheEnd) {
  Start(1);
  for (int i = 0; i < 1000; ++i) {
    shards[1]->fail_pulls.push_back(absl::ResourceExhaustedError("full"));
  }
  trainer->AddLease(MakeLease(0, LeasePurpose::kTrain));
  simulator.RunFor(absl::Seconds(9));
  EXPECT_EQ(Sent<Failure>(), 0);
  simulator.RunFor(absl::Seconds(2));
  EXPECT_EQ(Sent<Failure>(), 1);
}

TEST_F(LeaseTrainerTest, AnErrorThatWillNotPassIsReportedOnce) {
  Start(1);
  shards[0]->fail_pushes = {absl::InvalidArgumentError("bad row"),
                            absl::InvalidArgumentError("bad row")};
  trainer->AddLease(MakeLease(0, LeasePurpose::kTrain));
  simulator.RunUntilIdle();
  ASSERT_EQ(Sent<Failure>(), 1);
  for (const ProcessMessage& m : sent) {
    if (const auto* failure = std::get_if<Failure>(&m)) {
      EXPECT_EQ(failure->status.message(), "batch (0,0,0): ps 0: bad row");
    }
  }
  EXPECT_EQ(Sent<LeaseDone>(), 0);
}

TEST_F(LeaseTrainerTest, APieceThatCannotBeReadIsGivenBack) {
  Start(1);
  open_source = [](const Lease&) {
    return absl::StatusOr<std::unique_ptr<BatchSource>>(
        absl::NotFoundError("no file tr.libsvm"));
  };
  trainer->AddLease(MakeLease(5, LeasePurpose::kTrain));
  simulator.RunUntilIdle();
  ASSERT_EQ(Sent<LeaseFailed>(), 1);
  EXPECT_EQ(Sent<LeaseDone>(), 0);
  EXPECT_EQ(Sent<LeaseRequest>(), 2);
}

TEST_F(LeaseTrainerTest, AnAbandonedTrainerSaysNothingMore) {
  Start(1);
  trainer->AddLease(MakeLease(0, LeasePurpose::kTrain));
  simulator.RunFor(absl::Microseconds(1500));  // a push is in flight
  ASSERT_GT(shards[0]->pushes, 0u);
  const size_t sent_before = sent.size();
  trainer->Abandon();
  trainer->AddLease(MakeLease(1, LeasePurpose::kTrain));
  simulator.RunUntilIdle();
  EXPECT_EQ(sent.size(), sent_before);
}

TEST_F(LeaseTrainerTest, MeasuresWhatItDidAndWhatItWaitedFor) {
  Start(1);
  const absl::Time start = strand.Now();
  shards[1]->fail_pushes = {absl::UnavailableError("passing")};
  trainer->AddLease(MakeLease(0, LeasePurpose::kTrain));
  simulator.RunUntilIdle();
  const absl::Time end = strand.Now();
  trainer->Abandon();
  EXPECT_EQ(telemetry.batches->value(), 3);
  EXPECT_EQ(telemetry.examples->value(), 6);
  EXPECT_EQ(telemetry.loss->value(), 1);  // the fake's is its batch size
  EXPECT_EQ(telemetry.retries->value(), 1);
  EXPECT_EQ(telemetry.pulls_in_flight->value(), 0);
  EXPECT_EQ(telemetry.pushes_in_flight->value(), 0);
  double pulls = 0;
  for (const uint64_t count : telemetry.pull_seconds->Read().counts) {
    pulls += static_cast<double>(count);
  }
  EXPECT_EQ(pulls, 3);
  // A pull and a push take 1 ms each, and one push 200 ms more.
  EXPECT_NEAR(telemetry.push_seconds->Read().sum, 0.204, 1e-6);
  double seconds = 0;
  for (const Counter* state : telemetry.seconds) seconds += state->value();
  EXPECT_NEAR(seconds, absl::ToDoubleSeconds(end - start), 1e-9);
  EXPECT_NEAR(
      telemetry.seconds[static_cast<size_t>(StepState::kWaitPull)]->value(),
      0.003, 1e-9);  // for each batch, from the push before it on
}

TEST_F(LeaseTrainerTest, WhatIsInFlightWhenALifeEndsIsNoLongerCounted) {
  Start(1);
  trainer->AddLease(MakeLease(0, LeasePurpose::kTrain));
  simulator.RunFor(absl::Microseconds(1500));
  ASSERT_GT(telemetry.pushes_in_flight->value(), 0);
  trainer->Abandon();
  trainer->Abandon();
  simulator.RunUntilIdle();
  EXPECT_EQ(telemetry.pulls_in_flight->value(), 0);
  EXPECT_EQ(telemetry.pushes_in_flight->value(), 0);
}

TEST_F(LeaseTrainerTest, DrainsWhatIsInFlightAndTakesNothingMore) {
  batches_in_piece = 100;
  Start(1);
  trainer->AddLease(MakeLease(0, LeasePurpose::kTrain));
  simulator.RunFor(absl::Microseconds(1500));
  bool idle = false;
  trainer->Drain([&] { idle = true; });
  simulator.RunUntilIdle();
  EXPECT_TRUE(idle);
  EXPECT_LT(shards[0]->pushes, 5u);
  EXPECT_EQ(progress.Snapshot().batches, shards[0]->pushes);
}

TEST_F(LeaseTrainerTest, HeldItEndsWhatItBeganAndGoesOnWithTheRest) {
  uint64_t done_before = 0;
  for (const int depth : {0, 1}) {
    SCOPED_TRACE(depth);
    batches_in_piece = 20;
    Start(depth);
    trainer->AddLease(MakeLease(0, LeasePurpose::kTrain));
    simulator.RunFor(absl::Microseconds(3500));
    bool held = false;
    uint64_t pushes_when_held = 0;
    const uint64_t before = done_before;
    trainer->Hold([&] {
      held = true;
      pushes_when_held = progress.Snapshot().batches - before;
    });
    EXPECT_FALSE(held) << "a batch is in flight";
    simulator.RunUntilIdle();
    EXPECT_TRUE(held);
    EXPECT_EQ(shards[0]->pushes, pushes_when_held) << "pushed while it is held";
    EXPECT_EQ(shards[1]->pushes, pushes_when_held) << "on one shard alone";
    EXPECT_LT(pushes_when_held, 20u);
    EXPECT_EQ(Sent<LeaseDone>(), 0);
    trainer->Resume();
    simulator.RunUntilIdle();
    EXPECT_EQ(shards[0]->pushes, 20u);
    EXPECT_EQ(Sent<LeaseDone>(), 1);
    sent.clear();
    done_before = progress.Snapshot().batches;
  }
}

TEST_F(LeaseTrainerTest, WithNothingInFlightItIsHeldAtOnce) {
  Start(1);
  bool held = false;
  trainer->Hold([&] { held = true; });
  EXPECT_TRUE(held);
  trainer->AddLease(MakeLease(0, LeasePurpose::kTrain));
  simulator.RunUntilIdle();
  EXPECT_EQ(shards[0]->pushes, 0u);
  trainer->Resume();
  simulator.RunUntilIdle();
  EXPECT_EQ(shards[0]->pushes, 3u);
}

TEST_F(LeaseTrainerTest, ResumedInTimeItWasNeverHeld) {
  batches_in_piece = 20;
  Start(1);
  trainer->AddLease(MakeLease(0, LeasePurpose::kTrain));
  simulator.RunFor(absl::Microseconds(3500));
  bool held = false;
  trainer->Hold([&] { held = true; });
  trainer->Resume();
  simulator.RunUntilIdle();
  EXPECT_FALSE(held);
  EXPECT_EQ(shards[0]->pushes, 20u);
}

}  // namespace
}  // namespace shoal
