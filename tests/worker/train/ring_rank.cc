#include "tests/worker/train/ring_rank.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "base/stable_hash.h"
#include "core/canary.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "models/backend/reference_backend.h"
#include "models/create_model.h"
#include "partitioner/build_shard_map.h"
#include "worker/train/gradient_check.h"
#include "worker/train/hybrid_exchange.h"

namespace shoal {
namespace {

class RingModel final : public Model {
 public:
  RingModel(const RingJob* job, std::unique_ptr<Model> model)
      : job_(*job), model_(std::move(model)) {}
  const ModelSpec& spec() const override { return model_->spec(); }
  const Objective& objective() const override { return model_->objective(); }
  void Predict(const ModelInput& input, absl::Span<float> logits) override {
    model_->Predict(input, logits);
  }
  void ForwardBackward(const ModelInput& input, ModelOutput* output) override {
    EXPECT_EQ(input.loss_divisor, 1);
    const auto spoilt = job_.spoilt.find(input.batch);
    ModelOutput told = *output;
    if (spoilt != job_.spoilt.end() && spoilt->second == Spoilt::kDense) {
      told.on_final = [output](DenseRange range) {
        output->d_dense[range.begin] = NAN;
        if (output->on_final) output->on_final(range);
      };
    }
    model_->ForwardBackward(input, &told);
    output->loss_sum = told.loss_sum;
    if (spoilt != job_.spoilt.end() && spoilt->second == Spoilt::kRows) {
      output->d_rows[0].back() = INFINITY;
    }
  }

 private:
  const RingJob& job_;
  const std::unique_ptr<Model> model_;
};

ShardMap MapOf(const RingJob& job) {
  PartitionOptions options;
  options.replicate = job.servers > 0 ? Replicate::kDense : Replicate::kAll;
  auto map = BuildShardMap(job.Spec(), options, job.servers + 1);
  EXPECT_TRUE(map.ok()) << map.status();
  return *map;
}

}  // namespace

ModelSpec RingJob::Spec() const {
  auto spec = MakeModelSpec(model);
  EXPECT_TRUE(spec.ok()) << spec.status();
  if (canary) AddCanary(&*spec);
  return *spec;
}

Batch MakeRingBatch(const RingJob& job, const BatchId& id) {
  Batch batch;
  batch.id = id;
  uint64_t hash = StableHashCombine(
      StableHashCombine(StableHash(id.epoch), id.piece), id.index);
  const int size = job.lanes[id.epoch][id.piece][id.index];
  const uint64_t ids =
      std::max<uint64_t>(job.model.feature_size, 40) / job.model.field_size;
  for (int i = 0; i < size; ++i) {
    batch.examples.labels.push_back(hash % 3 == 0);
    for (int f = 0; f < job.model.field_size; ++f) {
      hash = StableHash(hash);
      uint64_t row = hash % ids;
      if (job.apart_in_step) {
        row = row - row % job.ranks() + (id.piece + id.index) % job.ranks();
        if (row >= ids) row -= job.ranks();
      }
      batch.examples.ids.push_back(f * ids + row);
      batch.examples.values.push_back(
          hash % 4 == 0 ? 1.0f : static_cast<float>(hash >> 40) * 0x1p-24f);
    }
    batch.examples.offsets.push_back(batch.examples.ids.size());
  }
  return batch;
}

std::unique_ptr<Model> MakeRingModel(const RingJob* job, Backend* backend) {
  auto model = CreateModel(job->model, backend);
  EXPECT_TRUE(model.ok()) << model.status();
  return std::make_unique<RingModel>(job, *std::move(model));
}

namespace {

constexpr uint32_t kFirstServer = 200;  // its life

std::unique_ptr<ParameterShard> MakeShard(const RingJob& job, int shard,
                                          uint32_t life,
                                          Executor* completions) {
  ParameterShardOptions options;
  options.job = "test";
  options.model = job.Spec();
  options.map = MapOf(job);
  options.shard = shard;
  options.life = Life{1, life};
  auto made = ParameterShard::Create(options, completions);
  EXPECT_TRUE(made.ok()) << made.status();
  (*made)->ServeUntil(absl::InfiniteFuture());
  return *std::move(made);
}

}  // namespace

RingServers MakeRingServers(const RingJob& job, Executor* completions) {
  RingServers servers;
  for (int s = 0; s < job.servers; ++s) {
    servers.push_back(MakeShard(job, s, kFirstServer + s, completions));
  }
  return servers;
}

std::unique_ptr<ParameterShard> MakeRingReplica(const RingJob& job, int rank,
                                                Executor* completions) {
  return MakeShard(job, job.servers, static_cast<uint32_t>(rank + 1),
                   completions);
}

std::unique_ptr<ShardedClient> MakeRingClient(
    const RingJob& job, int rank,
    std::vector<std::shared_ptr<ParameterService>> shards, Executor* strand) {
  ShardedClientOptions options;
  options.job = "test";
  options.worker = Life{1, static_cast<uint32_t>(rank + 100)};
  options.map = MapOf(job);
  for (int s = 0; s < job.servers; ++s) {
    options.shard_lives.push_back(Life{1, kFirstServer + s});
  }
  options.shard_lives.push_back(Life{1, static_cast<uint32_t>(rank + 1)});
  options.row_dims = {job.Spec().tables[0].row_dim()};
  options.dense_size = job.Spec().dense_size();
  return std::make_unique<ShardedClient>(options, std::move(shards), strand);
}

RingExchangeOptions RingOptions(const RingJob& job) {
  RingExchangeOptions options;
  options.round.model = job.Spec();
  if (job.canary) options.round.model.tables.pop_back();
  options.round.bucket_bytes = job.bucket_bytes;
  options.overlap = job.clip_norm == 0;
  options.renews = job.renews;
  return options;
}

StatsRequest RingStats(int rank) {
  return {{"test", Life{1, static_cast<uint32_t>(rank + 100)},
           Life{1, static_cast<uint32_t>(rank + 1)}, 1}};
}

StatsRequest ServerStats(int server) {
  return {{"test", Life{1, 100},
           Life{1, kFirstServer + static_cast<uint32_t>(server)}, 1}};
}

// Fails some calls as a network does.
class RingRank::FailingService final : public ParameterService {
 public:
  explicit FailingService(RingRank* rank) : rank_(*rank) {}

  void Pull(PullRequest request, absl::Duration timeout,
            Done<PullReply> done) override {
    EXPECT_TRUE(request.read_only);
    if (Fails()) {
      Refuse(std::move(done));
    } else {
      rank_.replica_->Pull(std::move(request), timeout, std::move(done));
    }
  }
  void Push(PushRequest request, absl::Duration timeout,
            Done<PushReply> done) override {
    if (Fails()) {
      Refuse(std::move(done));
      return;
    }
    if (rank_.rank_ == 1 && ++pushes_ == 3) {
      if (rank_.job_.replica_bug == ReplicaBug::kSkips) {
        rank_.strand_->Post([done = std::move(done)]() mutable {
          std::move(done)(PushReply{.verdict = Verdict::kApplied});
        });
        return;
      }
      if (rank_.job_.replica_bug == ReplicaBug::kOtherSum) {
        other_sum_.assign(request.blocks[0].gradients.begin(),
                          request.blocks[0].gradients.end());
        other_sum_[0] += 1;
        request.blocks[0].gradients = other_sum_;
      }
    }
    if (Fails()) {  // after it was applied
      done = [done = std::move(done)](absl::StatusOr<PushReply>) mutable {
        std::move(done)(absl::DeadlineExceededError("planted"));
      };
    }
    rank_.replica_->Push(std::move(request), timeout, std::move(done));
  }
  void Stats(StatsRequest, absl::Duration, Done<StatsReply>) override {}

 private:
  bool Fails() {
    return static_cast<int>(rank_.random_() % 100) < rank_.job_.failures;
  }
  template <typename Reply>
  void Refuse(Done<Reply> done) {
    rank_.strand_->Post([done = std::move(done)]() mutable {
      std::move(done)(absl::UnavailableError("planted"));
    });
  }

  RingRank& rank_;
  int pushes_ = 0;
  std::vector<float> other_sum_;
};

// A server whose calls arrive after a random time, and whose pushes may fail
// before or after they were applied.
class RingRank::LateService final : public ParameterService {
 public:
  LateService(RingRank* rank, std::shared_ptr<ParameterShard> server)
      : rank_(*rank), server_(std::move(server)) {}

  void Pull(PullRequest request, absl::Duration timeout,
            Done<PullReply> done) override {
    Travel(2000, [this, request = std::move(request), timeout,
                  done = std::move(done)]() mutable {
      server_->Pull(std::move(request), timeout, std::move(done));
    });
  }
  void Push(PushRequest request, absl::Duration timeout,
            Done<PushReply> done) override {
    const int draw = static_cast<int>(rank_.random_() % 100);
    if (draw < rank_.job_.failures / 2) {
      rank_.strand_->Post([done = std::move(done)]() mutable {
        std::move(done)(absl::UnavailableError("planted"));
      });
      return;
    }
    if (draw < rank_.job_.failures) {
      done = [done = std::move(done)](absl::StatusOr<PushReply>) mutable {
        std::move(done)(absl::DeadlineExceededError("planted"));
      };
    }
    if (rank_.job_.leaves_rows) {
      PushLate(CopyOf(request), timeout, std::move(done));
      return;
    }
    const bool late = rank_.job_.network != nullptr && rank_.random_() % 8 == 0;
    if (rank_.job_.network != nullptr && rank_.random_() % 4 == 0) {
      Travel(60'000, [server = server_, copy = CopyOf(request), timeout] {
        server->Push(copy->request, timeout, [](absl::StatusOr<PushReply>) {});
      });
    }
    Travel(late ? 30'000 : 2000, [this, request = std::move(request), timeout,
                                  done = std::move(done)]() mutable {
      server_->Push(std::move(request), timeout, std::move(done));
    });
  }
  void Stats(StatsRequest, absl::Duration, Done<StatsReply>) override {}

 private:
  // A push with its memory.
  struct Copied {
    PushRequest request;
    std::vector<std::vector<FeatureId>> ids;
    std::vector<std::vector<float>> gradients;
  };
  static std::shared_ptr<Copied> CopyOf(const PushRequest& request) {
    auto copy = std::make_shared<Copied>();
    copy->request = request;
    copy->ids.reserve(request.tables.size());
    copy->gradients.reserve(request.tables.size());
    for (TablePush& rows : copy->request.tables) {
      rows.ids = copy->ids.emplace_back(rows.ids.begin(), rows.ids.end());
      rows.gradients = copy->gradients.emplace_back(rows.gradients.begin(),
                                                    rows.gradients.end());
    }
    EXPECT_THAT(request.blocks, testing::IsEmpty());
    return copy;
  }
  // A push that its sender does not wait for, so it has memory of its own.
  void PushLate(std::shared_ptr<Copied> copy, absl::Duration timeout,
                Done<PushReply> done) {
    rank_.strand_->PostAfter(
        absl::Microseconds(rank_.random_() % 20'000),
        [server = server_, copy = std::move(copy), timeout,
         done = std::move(done)]() mutable {
          server->Push(copy->request, timeout,
                       [copy, done = std::move(done)](
                           absl::StatusOr<PushReply> reply) mutable {
                         std::move(done)(std::move(reply));
                       });
        });
  }
  // A call is on its way for so many microseconds at most.
  void Travel(uint64_t most, Task call) {
    if (rank_.job_.network == nullptr) {
      rank_.Pause(std::move(call));
      return;
    }
    rank_.job_.network->PostAfter(absl::Microseconds(rank_.random_() % most),
                                  std::move(call));
  }

  RingRank& rank_;
  const std::shared_ptr<ParameterShard> server_;
};

RingRank::RingRank(const RingJob* job, int rank,
                   std::unique_ptr<Collective> collective, Executor* strand,
                   Executor* completions, uint64_t seed,
                   const RingServers& servers)
    : job_(*job),
      rank_(rank),
      strand_(strand),
      random_(StableHashCombine(seed, rank)),
      backend_(std::make_unique<ReferenceBackend>()),
      model_(MakeRingModel(job, backend_.get())) {
  replica_ = MakeRingReplica(job_, rank, completions);
  std::vector<std::shared_ptr<ParameterService>> shards;
  for (const std::shared_ptr<ParameterShard>& server : servers) {
    shards.push_back(std::make_shared<LateService>(this, server));
  }
  shards.push_back(std::make_shared<FailingService>(this));
  client_ = MakeRingClient(job_, rank, std::move(shards), strand);
  MakeExchange(std::move(collective), RingOptions(job_));
}

void RingRank::MakeExchange(std::unique_ptr<Collective> collective,
                            RingExchangeOptions options) {
  options.warn = [this](const std::string& line) { warnings_.push_back(line); };
  if (job_.leaves_rows) {
    // As HybridExchange, but for the wait.
    options.round.model.tables.clear();
    options.push_rows = [this](TrainStep* step, const PushedBatch& batch,
                               Done<Verdict> done) {
      client_->PushTo(client_->single_shards(), absl::MakeConstSpan(&batch, 1),
                      step->parameters, [](absl::StatusOr<Verdict>) {});
      strand_->Post([done = std::move(done)]() mutable {
        std::move(done)(Verdict::kApplied);
      });
    };
  }
  if (job_.servers > 0 && !job_.leaves_rows) {
    exchange_ = std::make_unique<HybridExchange>(
        std::move(options), client_.get(), std::move(collective), strand_);
  } else {
    exchange_ = std::make_unique<RingExchange>(
        std::move(options), client_.get(), std::move(collective), strand_);
  }
  exchange_->Start([this](absl::Status error) { failure_ = error; },
                   [this](const ProcessMessage& message) {
                     if (take_ != nullptr) take_(message);
                   });
}

void RingRank::Retire(GradientExchange::Retired done) {
  ++generation_;
  at_ = At::kNothing;
  exchange_->Retire(std::move(done));
}

void RingRank::Join(std::unique_ptr<Collective> collective,
                    ExchangeStart start) {
  RingExchangeOptions options = RingOptions(job_);
  options.start = std::move(start);
  options.marked = [this] { return marked(); };
  options.renews = true;
  MakeExchange(std::move(collective), std::move(options));
}

uint64_t RingRank::marked() const {
  const MarkTotals totals = replica_->TotalMarks();
  return totals.applied + totals.rejected;
}

void RingRank::Pause(Task then) {
  strand_->PostAfter(
      absl::Microseconds(random_() % 2000),
      [this, g = generation_, then = std::move(then)]() mutable {
        if (g == generation_) std::move(then)();
      });
}

void RingRank::BeginEpoch(uint32_t epoch) {
  const uint32_t piece = job_.same_batches ? 0 : static_cast<uint32_t>(rank_);
  std::vector<BatchId> lane;
  for (uint32_t i = 0; i < job_.lanes[epoch][piece].size(); ++i) {
    lane.push_back({epoch, piece, i});
  }
  BeginLane(std::move(lane));
}

void RingRank::BeginLane(std::vector<BatchId> lane, uint64_t lease) {
  lane_ = std::move(lane);
  lease_ = lease;
  next_ = 0;
  ++lanes_;
  lane_done_ = false;
  lane_told_ = false;
  at_ = At::kWaits;
  pausing_ = true;
  Pause([this] { Next(); });
}

void RingRank::Next() {
  pausing_ = false;
  if (next_ == lane_.size()) {
    at_ = At::kNothing;
    lane_done_ = true;
    EndLane();
    return;
  }
  at_ = At::kWaits;
  if (hold_ != 0) return;
  at_ = At::kStep;
  step_.batch = MakeRingBatch(job_, lane_[next_]);
  step_.lease = lease_;
  ++next_;
  PrepareStep(client_->partitions(), job_.model.field_size, &unique_, &step_);
  Pull();
}

void RingRank::EndLane() {
  if (lane_told_) return;
  lane_told_ = true;
  Lease lease;
  lease.last_of_lane = true;
  exchange_->EndLease(lease);
}

void RingRank::Pull() {
  client_->Pull(&step_.parameters, /*read_only=*/true,
                [this, g = generation_](const absl::Status& status) {
                  if (g != generation_) return;
                  if (status.ok()) {
                    Pause([this] { Compute(); });
                  } else {
                    Pull();
                  }
                });
}

void RingRank::Compute() {
  exchange_->Begin(&step_);
  ComputeStep(job_.model.field_size, model_.get(), &step_, StepLoss::kSum);
  CheckGradient(step_.loss_sum, job_.clip_norm, &step_.parameters);
  EXPECT_EQ(step_.parameters.rejected, job_.Rejects(step_.batch.id));
  Finish();
  // The trainer tells the end when the last batch is computed and no other
  // follows: at once, or when the reader finds that, perhaps during a Hold.
  if (next_ < lane_.size()) return;
  if (random_() % 2 == 0) {
    EndLane();
  } else {
    Pause([this, lane = lanes_] {
      if (lane == lanes_) EndLane();
    });
  }
}

void RingRank::Finish() {
  at_ = At::kStep;
  exchange_->Finish(&step_,
                    [this, g = generation_](absl::StatusOr<StepEnd> end) {
                      if (g == generation_) OnFinished(std::move(end));
                    });
}

void RingRank::OnFinished(absl::StatusOr<StepEnd> end) {
  if (end.ok()) {
    ++(*end == StepEnd::kApplied ? applied_ : rejected_);
    at_ = At::kWaits;
    pausing_ = true;
    Pause([this] { Next(); });
  } else if (absl::IsAborted(end.status())) {
    ++aborted_;
    at_ = At::kKept;
    if (hold_ == 0) {
      strand_->PostAfter(absl::Milliseconds(5), [this, g = generation_] {
        if (g == generation_ && at_ == At::kKept && hold_ == 0) Finish();
      });
    }
  } else if (absl::IsUnavailable(end.status()) ||
             absl::IsDeadlineExceeded(end.status())) {
    Pause([this] { Finish(); });
  } else {
    failure_.Update(end.status());
  }
  CheckHeld();
}

void RingRank::Hold(uint64_t number) {
  hold_ = number;
  stopped_ = false;
  exchange_->Hold(number, [this] {
    stopped_ = true;
    CheckHeld();
  });
}

void RingRank::CheckHeld() {
  if (hold_ != 0 && stopped_ && at_ != At::kStep) held_ = hold_;
}

void RingRank::Resume(uint64_t number) {
  hold_ = 0;
  held_ = 0;
  exchange_->Resume(number);
  if (at_ == At::kKept) {
    Finish();
  } else if (at_ == At::kWaits && !pausing_) {
    Next();
  }
}

}  // namespace shoal
