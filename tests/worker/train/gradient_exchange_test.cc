#include "worker/train/gradient_exchange.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "models/binary_objective.h"
#include "tests/harness/simulated_executor.h"
#include "worker/train/lease_trainer.h"

namespace shoal {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Log = std::vector<std::string>;

// Answers every pull after a millisecond, and takes no push.
class PulledShard final : public ParameterService {
 public:
  explicit PulledShard(Executor* executor) : executor_(executor) {}
  void Pull(PullRequest, absl::Duration, Done<PullReply> done) override {
    executor_->PostAfter(
        absl::Milliseconds(1),
        [done = std::move(done)]() mutable { std::move(done)(PullReply{}); });
  }
  void Push(PushRequest, absl::Duration, Done<PushReply>) override {
    ADD_FAILURE() << "what becomes of a gradient is the exchange's business";
  }
  void Stats(StatsRequest, absl::Duration, Done<StatsReply>) override {}

 private:
  Executor* const executor_;
};

class LoggedModel final : public Model {
 public:
  explicit LoggedModel(Log* log) : log_(log) {
    spec_.tables.push_back({"t", 10, {{"w", 1, {}, {}}}});
  }
  const ModelSpec& spec() const override { return spec_; }
  const Objective& objective() const override { return kBinaryObjective; }
  void Predict(const ModelInput&, absl::Span<float>) override {
    log_->push_back("predict");
  }
  void ForwardBackward(const ModelInput& input, ModelOutput* output) override {
    log_->push_back(absl::StrCat("compute ", input.batch.index));
    for (float& d : output->d_rows[0]) d = 1 + input.batch.index;
    divisor = input.loss_divisor;
    output->loss_sum = input.batch.index == bad_loss ? NAN : 1;
  }
  void divides(bool divides) { spec_.divides_gradient = divides; }

  uint32_t bad_loss = ~0u;  // of the batch with this index
  double divisor = 0;       // of the newest batch

 private:
  Log* const log_;
  ModelSpec spec_;
};

// `batches` batches of `examples` examples with one and the same row; the end
// of the piece takes a while.
class SlowlyEndingSource final : public BatchSource {
 public:
  SlowlyEndingSource(Executor* executor, const Lease& lease, uint32_t batches,
                     uint32_t examples, absl::Duration end_after)
      : executor_(executor),
        left_(batches),
        examples_(examples),
        end_after_(end_after) {
    report_.piece = lease.piece.index;
  }
  void Next(Done<std::optional<Batch>> done) override {
    std::optional<Batch> batch;
    if (left_ > 0) {
      --left_;
      batch.emplace().id.index = next_++;
      ExampleBatch& examples = batch->examples;
      examples.offsets = {0};
      for (uint32_t i = 1; i <= examples_; ++i) {
        examples.labels.push_back(1);
        examples.offsets.push_back(i);
        examples.ids.push_back(3);
        examples.values.push_back(1);
      }
    }
    executor_->PostAfter(
        batch.has_value() ? absl::ZeroDuration() : end_after_,
        [done = std::move(done), batch = std::move(batch)]() mutable {
          std::move(done)(std::move(batch));
        });
  }
  void Recycle(Batch) override {}
  const PieceReport& report() const override { return report_; }

 private:
  Executor* const executor_;
  uint32_t left_;
  const uint32_t examples_;
  const absl::Duration end_after_;
  uint32_t next_ = 0;
  PieceReport report_;
};

// Writes down what is asked of it. Each Finish ends after a millisecond with
// the next of `answers`, or as applied; or when it is let go.
class RecordingExchange final : public GradientExchange {
 public:
  struct Shared {
    Log log;
    std::deque<absl::StatusOr<StepEnd>> answers;
    bool keeps = false;  // Finish ends by LetGo alone
    StepState waits_in = StepState::kWaitPush;
    std::vector<Done<StepEnd>> kept;
    std::vector<float> gradients;  // the first row's, of each Finish
    GradientExchange::Failed failed;
    GradientExchange::Tell tell;
    GradientExchange::Retired retired;
    bool keeps_holds = false;     // or there is a border always
    GradientExchange::Held held;  // of the present Hold

    void LetGo() {
      for (Done<StepEnd>& done : std::exchange(kept, {})) {
        std::move(done)(StepEnd::kApplied);
      }
    }
  };

  RecordingExchange(Executor* executor, Shared* shared)
      : executor_(executor), shared_(shared) {}

  void Start(Failed failed, Tell tell) override {
    shared_->failed = std::move(failed);
    shared_->tell = std::move(tell);
  }
  void Begin(TrainStep* step) override { Write("begin ", *step); }
  void Finish(TrainStep* step, Done<StepEnd> done) override {
    Write(step->parameters.rejected ? "finish rejected " : "finish ", *step);
    shared_->gradients.push_back(step->parameters.tables[0].d_rows.data()[0]);
    if (shared_->keeps) {
      shared_->kept.push_back(std::move(done));
      return;
    }
    absl::StatusOr<StepEnd> answer =
        step->parameters.rejected ? StepEnd::kRejected : StepEnd::kApplied;
    if (!shared_->answers.empty()) {
      answer = shared_->answers.front();
      shared_->answers.pop_front();
    }
    executor_->PostAfter(absl::Milliseconds(1),
                         [done = std::move(done), answer]() mutable {
                           std::move(done)(std::move(answer));
                         });
  }
  void EndLease(const Lease& lease) override {
    shared_->log.push_back(absl::StrCat("end of lease ", lease.number));
  }
  void Hold(uint64_t number, Held held) override {
    if (!shared_->keeps_holds) {
      std::move(held)();
      return;
    }
    shared_->log.push_back(absl::StrCat("hold ", number));
    shared_->held = std::move(held);
  }
  void Resume(uint64_t number) override {
    if (!shared_->keeps_holds) return;
    shared_->log.push_back(absl::StrCat("resume ", number));
    shared_->held = nullptr;
  }
  void Retire(Retired done) override {
    shared_->log.push_back("retire");
    shared_->retired = std::move(done);
  }
  void Cancel() override { shared_->log.push_back("cancel"); }
  StepState waits_in() const override { return shared_->waits_in; }

 private:
  void Write(const char* what, const TrainStep& step) {
    shared_->log.push_back(absl::StrCat(what, step.batch.id.index));
    if (step.lease != 4) shared_->log.push_back("under another lease");
  }

  Executor* const executor_;
  Shared* const shared_;
};

class GradientExchangeTest : public testing::Test {
 protected:
  void Start(int depth, uint32_t batches,
             LeasePurpose purpose = LeasePurpose::kTrain) {
    ShardedClientOptions client;
    client.map.num_shards = 1;
    client.map.tables = {{PartitionKind::kMod, 10, 1}};
    client.shard_lives = {{1, 1}};
    client.row_dims = {1};
    LeaseTrainerOptions options;
    options.field_size = 1;
    options.pipeline_depth = depth;
    options.loss = loss_;
    options.clip_norm = clip_norm_;
    LeaseTrainerDependencies deps;
    deps.telemetry = &telemetry_;
    deps.model = &model_;
    deps.progress = &progress_;
    deps.time = &time_;
    logger_.emplace(LoggerOptions{.level = log_level_});
    deps.logger = &*logger_;
    deps.strand = &strand_;
    deps.open_source = &open_source_;
    batches_ = batches;
    trainer_ = std::make_shared<LeaseTrainer>(
        options, deps,
        std::make_unique<ShardedClient>(
            client,
            std::vector<std::shared_ptr<ParameterService>>{
                std::make_shared<PulledShard>(&strand_)},
            &strand_),
        std::make_unique<RecordingExchange>(&strand_, &exchange_),
        [this](ProcessMessage m) {
          if (std::holds_alternative<LeaseDone>(m)) log().push_back("done");
          if (std::holds_alternative<Failure>(m)) log().push_back("failure");
        });
    Lease lease;
    lease.number = 4;
    lease.purpose = purpose;
    lease.batch_size = 1;
    trainer_->Start();
    trainer_->AddLease(std::move(lease));
  }
  Log& log() { return exchange_.log; }

  Simulator simulator_;
  SimulatedExecutor strand_{&simulator_};
  LogLevel log_level_ = LogLevel::kError;
  std::optional<Logger> logger_;
  RecordingExchange::Shared exchange_;
  LoggedModel model_{&exchange_.log};
  ProgressMeter progress_{&kBinaryMetrics};
  StepLoss loss_ = StepLoss::kMean;
  double clip_norm_ = 0;
  Telemetry all_metrics_;
  WorkerTelemetry telemetry_ = WorkerTelemetry::Create(&all_metrics_);
  TimeMeter time_{&telemetry_};
  uint32_t batches_ = 0;
  uint32_t examples_ = 1;  // of a batch
  absl::Duration end_after_;
  LeaseQueue::OpenSource open_source_ =
      [this](
          const Lease& lease) -> absl::StatusOr<std::unique_ptr<BatchSource>> {
    return std::make_unique<SlowlyEndingSource>(&strand_, lease, batches_,
                                                examples_, end_after_);
  };
  std::shared_ptr<LeaseTrainer> trainer_;
};

TEST_F(GradientExchangeTest, EachStepBeginsBeforeItIsComputedAndFinishesAfter) {
  Start(0, 2);
  simulator_.RunUntilIdle();
  EXPECT_THAT(log(),
              ElementsAre("begin 0", "compute 0", "finish 0", "begin 1",
                          "compute 1", "finish 1", "end of lease 4", "done"));
  EXPECT_THAT(exchange_.gradients, ElementsAre(1, 2));
  EXPECT_EQ(progress_.Snapshot().batches, 2u);
}

TEST_F(GradientExchangeTest, ALeaseEndsBehindItsLastFinishDoneOrNot) {
  exchange_.keeps = true;
  Start(1, 2);
  simulator_.RunUntilIdle();
  EXPECT_THAT(log(), ElementsAre("begin 0", "compute 0", "finish 0", "begin 1",
                                 "compute 1", "finish 1", "end of lease 4"));
  exchange_.LetGo();
  EXPECT_EQ(log().back(), "done");
}

TEST_F(GradientExchangeTest, ALeaseWhoseEndIsReadLateEndsThen) {
  end_after_ = absl::Seconds(1);
  Start(0, 1);
  simulator_.RunFor(absl::Milliseconds(500));
  EXPECT_THAT(log(), ElementsAre("begin 0", "compute 0", "finish 0"));
  simulator_.RunUntilIdle();
  EXPECT_THAT(log(), ElementsAre("begin 0", "compute 0", "finish 0",
                                 "end of lease 4", "done"));
}

TEST_F(GradientExchangeTest, ALeaseWithoutStepsEndsToo) {
  Start(1, 0);
  simulator_.RunUntilIdle();
  EXPECT_THAT(log(), ElementsAre("end of lease 4", "done"));
}

TEST_F(GradientExchangeTest, NoMoreStepsAreUnfinishedThanTheDepthAllows) {
  exchange_.keeps = true;
  for (const int depth : {0, 1, 2}) {
    SCOPED_TRACE(depth);
    Start(depth, 9);
    simulator_.RunUntilIdle();
    EXPECT_EQ(exchange_.kept.size(), static_cast<size_t>(depth + 1));
    trainer_->Abandon();
    exchange_.kept.clear();
  }
}

TEST_F(GradientExchangeTest, WhatFailedForAPassingReasonIsFinishedAgain) {
  exchange_.answers = {absl::UnavailableError("starting"),
                       absl::DeadlineExceededError("slow"),
                       absl::ResourceExhaustedError("full")};
  Start(0, 1);
  simulator_.RunUntilIdle();
  EXPECT_THAT(log(),
              ElementsAre("begin 0", "compute 0", "finish 0", "end of lease 4",
                          "finish 0", "finish 0", "finish 0", "done"));
  EXPECT_THAT(exchange_.gradients, ElementsAre(1, 1, 1, 1));
}

// A step waits for its slowest rank; how long that may take is for the
// coordinator to judge.
TEST_F(GradientExchangeTest, AStepThatWaitsForOthersIsNoTroubleAndIsSaidOnce) {
  log_level_ = LogLevel::kInfo;
  const auto lines_of = [this](StepState waits_in) {
    exchange_.waits_in = waits_in;
    exchange_.answers = {absl::DeadlineExceededError("waits"),
                         absl::DeadlineExceededError("waits"),
                         absl::DeadlineExceededError("waits")};
    testing::internal::CaptureStderr();
    Start(0, 1);
    simulator_.RunUntilIdle();
    EXPECT_EQ(log().back(), "done");
    return std::vector<std::string>(
        absl::StrSplit(testing::internal::GetCapturedStderr(), '\n'));
  };
  const std::vector<std::string> lines = lines_of(StepState::kWaitStep);
  ASSERT_THAT(lines, SizeIs(2));  // the last one is empty
  EXPECT_THAT(lines[0], AllOf(HasSubstr(" info "),
                              HasSubstr("waits for those of other workers")));
  EXPECT_THAT(lines_of(StepState::kWaitPush),
              Contains(HasSubstr(" warning ")).Times(3));
}

TEST_F(GradientExchangeTest, AnyOtherErrorEndsTheWorkerAndNoStepBegins) {
  exchange_.answers = {absl::FailedPreconditionError("ranks differ")};
  Start(0, 3);
  simulator_.RunUntilIdle();
  EXPECT_THAT(log(),
              ElementsAre("begin 0", "compute 0", "finish 0", "failure"));
  trainer_->Abandon();
  EXPECT_EQ(log().back(), "cancel");
}

TEST_F(GradientExchangeTest, ABatchThatIsNotSoundIsFinishedAsRejected) {
  model_.bad_loss = 1;
  Start(0, 2);
  simulator_.RunUntilIdle();
  EXPECT_THAT(log(), ElementsAre("begin 0", "compute 0", "finish 0", "begin 1",
                                 "compute 1", "finish rejected 1",
                                 "end of lease 4", "done"));
  EXPECT_EQ(progress_.Snapshot().batches, 1u);
}

TEST_F(GradientExchangeTest, TheEndOfALifeCancelsAndIsTheLastCall) {
  exchange_.keeps = true;
  Start(1, 9);
  simulator_.RunUntilIdle();
  log().clear();
  trainer_->Abandon();
  trainer_->Abandon();
  EXPECT_THAT(log(), ElementsAre("cancel"));
  // What ends now counts for nothing.
  exchange_.LetGo();
  simulator_.RunUntilIdle();
  EXPECT_THAT(log(), ElementsAre("cancel"));
  EXPECT_EQ(progress_.Snapshot().batches, 0u);
}

TEST_F(GradientExchangeTest, AStepThatWaitsToBeFinishedAgainIsCancelledToo) {
  exchange_.answers = {absl::UnavailableError("starting")};
  Start(0, 1);
  simulator_.RunFor(absl::Milliseconds(5));
  log().clear();
  trainer_->Abandon();
  simulator_.RunUntilIdle();
  EXPECT_THAT(log(), ElementsAre("cancel"));
}

TEST_F(GradientExchangeTest, DrainedItIsCancelledWhenEveryFinishIsDone) {
  exchange_.keeps = true;
  Start(0, 9);
  simulator_.RunUntilIdle();
  bool idle = false;
  trainer_->Drain([&] { idle = true; });
  EXPECT_FALSE(idle);
  EXPECT_THAT(log(), ElementsAre("begin 0", "compute 0", "finish 0"));
  exchange_.LetGo();
  EXPECT_TRUE(idle);
  trainer_->Abandon();
  EXPECT_THAT(log(), ElementsAre("begin 0", "compute 0", "finish 0", "cancel"));
}

TEST_F(GradientExchangeTest, ADroppedBatchIsNeitherTrainedNorRejected) {
  exchange_.answers = {StepEnd::kDropped};
  Start(0, 2);
  simulator_.RunUntilIdle();
  EXPECT_THAT(log(),
              ElementsAre("begin 0", "compute 0", "finish 0", "begin 1",
                          "compute 1", "finish 1", "end of lease 4", "done"));
  EXPECT_EQ(progress_.Snapshot().batches, 1u);
  EXPECT_EQ(telemetry_.batches->value(), 1);
  EXPECT_EQ(telemetry_.batches_dropped->value(), 1);
  EXPECT_EQ(telemetry_.batches_rejected->value(), 0);
}

TEST_F(GradientExchangeTest, AnAbortedStepIsKeptAndFinishedAgainAfterAPause) {
  exchange_.answers = {absl::AbortedError("hold"), absl::AbortedError("hold")};
  Start(0, 2);
  simulator_.RunFor(absl::Milliseconds(100));
  EXPECT_THAT(log(), ElementsAre("begin 0", "compute 0", "finish 0"))
      << "no other step begins meanwhile";
  EXPECT_EQ(telemetry_.pushes_in_flight->value(), 0);
  simulator_.RunUntilIdle();
  EXPECT_THAT(log(), ElementsAre("begin 0", "compute 0", "finish 0", "finish 0",
                                 "finish 0", "begin 1", "compute 1", "finish 1",
                                 "end of lease 4", "done"));
  EXPECT_THAT(exchange_.gradients, ElementsAre(1, 1, 1, 2));
  EXPECT_EQ(progress_.Snapshot().batches, 2u);
  EXPECT_EQ(telemetry_.pushes_in_flight->value(), 0);
}

// The hold comes before the answer, or after it.
TEST_F(GradientExchangeTest, AnAbortedStepIsNotInFlightDuringAHold) {
  for (const bool early : {false, true}) {
    SCOPED_TRACE(early);
    log().clear();
    exchange_.answers = {absl::AbortedError("hold")};
    Start(0, 2);
    if (early) {
      simulator_.RunUntil([&] { return !log().empty(); },
                          absl::InfiniteFuture());
    } else {
      simulator_.RunFor(absl::Milliseconds(100));
    }
    bool held = false;
    trainer_->Hold(1, [&] { held = true; });
    simulator_.RunFor(absl::Seconds(5));
    EXPECT_TRUE(held) << "the hold waits for the step";
    EXPECT_THAT(log(), ElementsAre("begin 0", "compute 0", "finish 0"))
        << "it was sent again during the hold";
    trainer_->Resume();
    EXPECT_EQ(log().back(), "finish 0");
    simulator_.RunUntilIdle();
    EXPECT_THAT(log(), ElementsAre("begin 0", "compute 0", "finish 0",
                                   "finish 0", "begin 1", "compute 1",
                                   "finish 1", "end of lease 4", "done"));
    trainer_->Abandon();
  }
}

TEST_F(GradientExchangeTest, TheLeasesOfAHoldDoNotWaitForAKeptStep) {
  exchange_.answers = {absl::AbortedError("hold")};
  Start(0, 1);
  simulator_.RunFor(absl::Milliseconds(100));
  trainer_->Hold(1, [] {});
  log().clear();
  Lease lease;
  lease.number = 4;  // as RecordingExchange expects
  lease.batch_size = 1;
  trainer_->AddLease(std::move(lease));
  simulator_.RunFor(absl::Seconds(5));
  EXPECT_THAT(log(), ElementsAre("begin 0", "compute 0", "finish 0",
                                 "end of lease 4", "done"));
}

TEST_F(GradientExchangeTest, AKeptStepEndsWithItsLife) {
  exchange_.answers = {absl::AbortedError("hold")};
  Start(0, 1);
  simulator_.RunFor(absl::Milliseconds(100));
  bool idle = false;
  trainer_->Drain([&] { idle = true; });
  simulator_.RunUntilIdle();
  EXPECT_TRUE(idle) << "nothing is in flight";
  EXPECT_THAT(log(), ElementsAre("begin 0", "compute 0", "finish 0",
                                 "end of lease 4", "cancel"));
}

TEST_F(GradientExchangeTest, TheGradientIsThatOfTheLossThatIsAskedFor) {
  examples_ = 5;
  Start(0, 1);
  simulator_.RunUntilIdle();
  EXPECT_EQ(model_.divisor, 5);
  loss_ = StepLoss::kSum;
  Start(0, 1);
  simulator_.RunUntilIdle();
  EXPECT_EQ(model_.divisor, 1);
}

// The one row of the gradient is 1 + the batch's index, so 1.
TEST_F(GradientExchangeTest, ASumIsClippedByTheNormOfItsMean) {
  examples_ = 8;
  loss_ = StepLoss::kSum;
  for (const double clip : {0.25, 0.125, 0.0625}) {
    clip_norm_ = clip;
    Start(0, 1);
    simulator_.RunUntilIdle();
  }
  model_.divides(false);  // a model of sums has one gradient in all modes
  Start(0, 1);
  simulator_.RunUntilIdle();
  EXPECT_THAT(exchange_.gradients, ElementsAre(1, 1, 0.5, 0.0625));
}

TEST_F(GradientExchangeTest, HeldItWaitsForTheBordersOfTheExchange) {
  exchange_.keeps_holds = true;
  Start(0, 2);
  bool held = false;
  trainer_->Hold(7, [&] { held = true; });
  simulator_.RunUntilIdle();
  EXPECT_FALSE(held);
  EXPECT_THAT(log(), ElementsAre("hold 7"));
  std::exchange(exchange_.held, nullptr)();
  EXPECT_TRUE(held);
  trainer_->Resume();
  trainer_->Resume();
  simulator_.RunUntilIdle();
  EXPECT_EQ(log()[1], "resume 7");
  EXPECT_EQ(log()[2], "begin 0");
  EXPECT_EQ(log().back(), "done");
}

TEST_F(GradientExchangeTest, AnErrorOfItsOwnWorkEndsTheWorker) {
  Start(0, 3);
  exchange_.failed(absl::FailedPreconditionError("a rank is lost"));
  simulator_.RunUntilIdle();
  EXPECT_THAT(log(), ElementsAre("failure"));
}

TEST_F(GradientExchangeTest, EvaluationsAreNoneOfItsBusiness) {
  Start(1, 2, LeasePurpose::kEvaluate);
  simulator_.RunUntilIdle();
  EXPECT_THAT(log(), ElementsAre("predict", "predict", "done"));
  EXPECT_THAT(exchange_.gradients, IsEmpty());
}

// The coordinator ignores what a worker says of leases that are over.
TEST_F(GradientExchangeTest, ARetiredTrainerWaitsForTheExchangeAndSaysNothing) {
  exchange_.keeps = true;
  Start(/*depth=*/0, /*batches=*/3);
  simulator_.RunFor(absl::Seconds(1));
  ASSERT_EQ(exchange_.kept.size(), 1u);
  bool retired = false;
  trainer_->Retire([&](absl::StatusOr<std::shared_ptr<StepMemory>> newest) {
    EXPECT_TRUE(newest.ok()) << newest.status();
    retired = true;
  });
  EXPECT_EQ(log().back(), "retire");
  const size_t said = log().size();
  exchange_.LetGo();
  simulator_.RunFor(absl::Seconds(1));
  EXPECT_FALSE(retired);
  EXPECT_EQ(log().size(), said) << "no further batch, and no end of a lease";
  std::move(exchange_.retired)(nullptr);
  EXPECT_TRUE(retired);
  trainer_->Abandon();
}

TEST_F(GradientExchangeTest, ALifeThatEndsWhileItRetiresCancelsTheExchange) {
  Start(/*depth=*/0, /*batches=*/3);
  trainer_->Retire([](absl::StatusOr<std::shared_ptr<StepMemory>>) {});
  trainer_->Abandon();
  EXPECT_EQ(log().back(), "cancel");
}

}  // namespace
}  // namespace shoal
