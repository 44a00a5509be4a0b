// Ranks of --mode=ring as LeaseTrainers with leases of their lanes, over real
// replicas: a Hold goes through the trainers, which keep the steps that it cut
// off.
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "models/backend/reference_backend.h"
#include "models/binary_objective.h"
#include "tests/harness/simulated_executor.h"
#include "tests/worker/train/ring_rank.h"
#include "worker/collective/local_collective.h"
#include "worker/train/lease_trainer.h"

namespace shoal {
namespace {

using ::testing::Each;

// The batches of a rank's lane that a lease has: its first half or its second.
class LaneSource final : public BatchSource {
 public:
  LaneSource(const RingJob* job, const Lease& lease, Executor* executor,
             uint64_t delay)
      : job_(*job), executor_(executor), delay_(delay) {
    const size_t all = job_.lanes[lease.epoch][lease.piece.index].size();
    next_ = {lease.epoch, lease.piece.index,
             static_cast<uint32_t>(lease.last_of_lane ? all / 2 : 0)};
    end_ = static_cast<uint32_t>(lease.last_of_lane ? all : all / 2);
  }
  void Next(Done<std::optional<Batch>> done) override {
    std::optional<Batch> batch;
    if (next_.index < end_) {
      batch = MakeRingBatch(job_, next_);
      ++next_.index;
    }
    executor_->PostAfter(
        absl::Microseconds(delay_),
        [done = std::move(done), batch = std::move(batch)]() mutable {
          std::move(done)(std::move(batch));
        });
  }
  void Recycle(Batch) override {}
  const PieceReport& report() const override { return report_; }

 private:
  const RingJob& job_;
  Executor* const executor_;
  const uint64_t delay_;
  BatchId next_;
  uint32_t end_ = 0;
  PieceReport report_;
};

class Rank {
 public:
  Rank(const RingJob* job, int rank, std::unique_ptr<Collective> collective,
       SimulatedExecutor* strand)
      : replica_(MakeRingReplica(*job, rank, strand)) {
    model_ = MakeRingModel(job, &backend_);
    open_source_ = [this, job, strand](const Lease& lease)
        -> absl::StatusOr<std::unique_ptr<BatchSource>> {
      return std::make_unique<LaneSource>(job, lease, strand,
                                          random_() % 3000);
    };
    auto client = MakeRingClient(*job, rank, {replica_}, strand);
    auto exchange = std::make_unique<RingExchange>(
        RingOptions(*job), client.get(), std::move(collective), strand);
    LeaseTrainerOptions options;
    options.field_size = job->model.field_size;
    options.pipeline_depth = 0;
    options.loss = StepLoss::kSum;
    options.pulls_create_rows = false;
    options.clip_norm = job->clip_norm;
    LeaseTrainerDependencies deps;
    deps.model = model_.get();
    deps.progress = &progress_;
    deps.time = &time_;
    deps.logger = &logger_;
    deps.strand = strand;
    deps.open_source = &open_source_;
    trainer_ = std::make_shared<LeaseTrainer>(
        options, deps, std::move(client), std::move(exchange),
        [this](const ProcessMessage& message) {
          leases_done_ += std::holds_alternative<LeaseDone>(message);
          const auto* failure = std::get_if<Failure>(&message);
          if (failure != nullptr) ADD_FAILURE() << failure->status;
        });
    trainer_->Start();
  }

  // The two leases of the rank's lane.
  void BeginEpoch(uint32_t epoch, uint32_t rank) {
    for (const bool last : {false, true}) {
      Lease lease;
      lease.number = 2 * epoch + last + 1;
      lease.epoch = epoch;
      lease.piece.index = rank;
      lease.batch_size = 1;
      lease.last_of_lane = last;
      trainer_->AddLease(std::move(lease));
    }
  }
  void Hold(uint64_t number) {
    trainer_->Hold(number, [this, number] { held_ = number; });
  }
  void Resume() {
    held_ = 0;
    trainer_->Resume();
  }
  uint64_t held() const { return held_; }
  int leases_done() const { return leases_done_; }
  uint64_t trained() const { return progress_.Snapshot().batches; }
  ParameterShard& replica() { return *replica_; }
  LeaseTrainer& trainer() { return *trainer_; }

 private:
  std::mt19937_64 random_{7};
  Logger logger_{{"", LogLevel::kError}};
  ReferenceBackend backend_;
  std::unique_ptr<Model> model_;
  ProgressMeter progress_{&kBinaryMetrics};
  TimeMeter time_{nullptr};
  const std::shared_ptr<ParameterShard> replica_;
  LeaseQueue::OpenSource open_source_;
  int leases_done_ = 0;
  uint64_t held_ = 0;
  std::shared_ptr<LeaseTrainer> trainer_;
};

class RingTrainerTest : public testing::TestWithParam<uint64_t> {
 protected:
  RingTrainerTest() : simulator_(GetParam()), random_(GetParam()) {
    job_.model.field_size = 4;
    job_.model.feature_size = 48;
    job_.model.embedding_size = 3;
    job_.model.deep_layers = {8, 4};
    job_.lanes = {{{3, 3, 3, 2}, {5}, {4, 4, 4, 4, 4, 2}},
                  {{2, 2}, {1, 2, 3, 4, 5}, {3}}};
    job_.spoilt[{1, 1, 2}] = Spoilt::kRows;
    std::vector<Executor*> executors;
    for (int rank = 0; rank < 3; ++rank) {
      strands_.push_back(std::make_unique<SimulatedExecutor>(
          &simulator_, absl::StrCat("rank ", rank)));
      executors.push_back(strands_.back().get());
    }
    auto collectives = MakeLocalCollectives(
        {.reduction = Reduction::kRankOrder}, executors);
    for (int rank = 0; rank < 3; ++rank) {
      ranks_.push_back(std::make_unique<Rank>(
          &job_, rank, std::move(collectives[rank]), strands_[rank].get()));
    }
  }
  ~RingTrainerTest() override {
    for (const auto& rank : ranks_) rank->trainer().Abandon();
    for (const auto& strand : strands_) strand->Kill();
  }

  template <typename Task>
  void SendAll(Task task) {
    for (int rank = 0; rank < 3; ++rank) {
      strands_[rank]->PostAfter(
          absl::Microseconds(random_() % 20'000),
          [this, rank, task] { task(*ranks_[rank], rank); });
    }
  }
  // As the coordinator's barrier: all replicas have all batches, and all ranks
  // have ended their leases.
  bool Complete(uint32_t epoch) {
    uint64_t batches = 0;
    for (uint32_t e = 0; e <= epoch; ++e) {
      for (const auto& lane : job_.lanes[e]) batches += lane.size();
    }
    for (const auto& rank : ranks_) {
      const MarkTotals marks = rank->replica().TotalMarks();
      if (marks.applied + marks.rejected != batches ||
          rank->leases_done() != static_cast<int>(2 * (epoch + 1))) {
        return false;
      }
    }
    return true;
  }
  bool RunUntil(absl::FunctionRef<bool()> done) {
    return simulator_.RunUntil(done, simulator_.Now() + absl::Hours(1));
  }
  void HoldAndResume(uint64_t number) {
    SendAll([number](Rank& rank, int) { rank.Hold(number); });
    ASSERT_TRUE(RunUntil([&] {
      for (const auto& rank : ranks_) {
        if (rank->held() != number) return false;
      }
      return true;
    })) << "hold " << number;
    const MarkTotals marks = ranks_[0]->replica().TotalMarks();
    simulator_.RunFor(absl::Seconds(1));
    for (const auto& rank : ranks_) {
      EXPECT_EQ(rank->replica().TotalMarks(), marks);
    }
    SendAll([](Rank& rank, int) { rank.Resume(); });
    simulator_.RunFor(absl::Milliseconds(20));
  }
  std::vector<uint64_t> Digests() {
    std::vector<uint64_t> digests;
    for (int rank = 0; rank < 3; ++rank) {
      ranks_[rank]->replica().Stats(
          RingStats(rank), absl::Seconds(1),
          [&](const absl::StatusOr<StatsReply>& reply) {
            digests.push_back(reply.ok() ? reply->digest : 0);
          });
    }
    EXPECT_TRUE(RunUntil([&] { return digests.size() == 3; }));
    return digests;
  }

  RingJob job_;
  Simulator simulator_;
  std::mt19937_64 random_;
  std::vector<std::unique_ptr<SimulatedExecutor>> strands_;
  std::vector<std::unique_ptr<Rank>> ranks_;
};

TEST_P(RingTrainerTest, TheStepsAreThoseOfASerialLoopWithAnyHolds) {
  const bool holds = GetParam() % 4 != 0;
  uint64_t number = 0;
  for (uint32_t epoch = 0; epoch < job_.lanes.size(); ++epoch) {
    SendAll([epoch](Rank& rank, uint32_t index) {
      rank.BeginEpoch(epoch, index);
    });
    // No lease comes during a hold.
    simulator_.RunFor(absl::Milliseconds(20));
    while (holds && !Complete(epoch)) {
      simulator_.RunFor(absl::Microseconds(random_() % 30'000));
      HoldAndResume(++number);
      if (HasFatalFailure()) return;
    }
    ASSERT_TRUE(RunUntil([&] { return Complete(epoch); }));
  }
  EXPECT_THAT(Digests(), Each(SerialDigest(job_)));
  EXPECT_EQ(ranks_[0]->trained(), 6u);
  EXPECT_EQ(ranks_[1]->trained(), 5u) << "one of 6 was spoilt";
  EXPECT_EQ(ranks_[2]->trained(), 7u);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RingTrainerTest,
                         testing::Range<uint64_t>(1, 13));

}  // namespace
}  // namespace shoal
