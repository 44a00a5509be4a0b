#ifndef SHOAL_TESTS_WORKER_TRAIN_LEASE_TRAINER_FIXTURE_H_
#define SHOAL_TESTS_WORKER_TRAIN_LEASE_TRAINER_FIXTURE_H_

#include <algorithm>
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
#include "models/binary_objective.h"
#include "tests/harness/simulated_executor.h"
#include "worker/train/lease_trainer.h"
#include "worker/train/push_exchange.h"

namespace shoal {
inline constexpr int kFields = 2;
inline constexpr int kDim = 3;

// One table of 10 rows of 3 floats over two shards, no dense variable.
inline ShardMap TwoShards() {
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
    const PushedBatch& batch = request.batches[0];
    log_->push_back("push " + ToString(batch.id));
    ++pushes;
    rejected += batch.rejected;
    pushed_tables += request.tables.size();
    last_push_lease = batch.lease;
    pushed_examples += batch.examples;
    const Verdict verdict =
        batch.rejected ? Verdict::kRejected : Verdict::kApplied;
    Answer(std::move(done), PushReply{.verdict = verdict}, &fail_pushes);
  }

  void Stats(StatsRequest, absl::Duration, Done<StatsReply>) override {}

  uint64_t pushes = 0;
  uint64_t rejected = 0;       // pushes that said so
  uint64_t pushed_tables = 0;  // over all pushes
  uint64_t last_push_lease = 0;
  uint64_t pushed_examples = 0;  // as the pushes tell
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
  const Objective& objective() const override { return kBinaryObjective; }
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

// A trainer over two such shards, and what it tells the coordinator.
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
    deps.time = &time;
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
  ProgressMeter progress{&kBinaryMetrics};
  Telemetry all_metrics;
  WorkerTelemetry telemetry = WorkerTelemetry::Create(&all_metrics);
  TimeMeter time{&telemetry};
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

}  // namespace shoal

#endif  // SHOAL_TESTS_WORKER_TRAIN_LEASE_TRAINER_FIXTURE_H_
