#include "worker/train/lease_trainer.h"

#include <numeric>
#include <string>
#include <variant>
#include <vector>

#include "tests/worker/train/lease_trainer_fixture.h"

namespace shoal {
namespace {

TEST_F(LeaseTrainerTest, TrainsEveryBatchOnceAndEndsTheLease) {
  Start(1);
  ASSERT_EQ(Sent<LeaseRequest>(), 1);
  trainer->AddLease(MakeLease(4, LeasePurpose::kTrain));
  simulator.RunUntilIdle();
  EXPECT_EQ(shards[0]->pushes, 3u);
  EXPECT_EQ(shards[1]->pushes, 3u);
  EXPECT_EQ(shards[0]->last_push_lease, 4u);
  EXPECT_EQ(shards[0]->pushed_examples, 6u);
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
  // From the end of the first batch: two steps, one of them with the retry.
  const WorkerTime told = time.Read(end);
  EXPECT_EQ(told.steps.micros.count(), 2u);
  EXPECT_GE(told.steps.micros.max(), 1'000u);
  EXPECT_LT(told.steps.micros.sum(), 1e6 * absl::ToDoubleSeconds(end - start));
  EXPECT_NEAR(
      std::accumulate(told.seconds.begin(), told.seconds.end(), 0.0),
      absl::ToDoubleSeconds(end - start), 1e-9);
}

TEST_F(LeaseTrainerTest, NeitherAnEvaluationNorAHoldIsInAStep) {
  Start(0);
  trainer->AddLease(MakeLease(0, LeasePurpose::kTrain));
  simulator.RunUntilIdle();
  const uint64_t steps = time.Read(strand.Now()).steps.micros.count();
  EXPECT_EQ(steps, 2u);
  trainer->AddLease(MakeLease(1, LeasePurpose::kEvaluate));
  simulator.RunUntilIdle();
  trainer->AddLease(MakeLease(2, LeasePurpose::kTrain));
  simulator.RunUntilIdle();
  EXPECT_EQ(time.Read(strand.Now()).steps.micros.count(), steps + 2);
  trainer->AddLease(MakeLease(3, LeasePurpose::kTrain));
  simulator.RunFor(absl::Microseconds(1500));
  trainer->Hold(1, [] {});
  simulator.RunFor(absl::Seconds(30));
  trainer->Resume();
  simulator.RunUntilIdle();
  EXPECT_LT(time.Read(strand.Now()).steps.micros.max(), 1'000'000u);
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

}  // namespace
}  // namespace shoal
