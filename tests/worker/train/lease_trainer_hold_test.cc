#include <variant>

#include "tests/worker/train/lease_trainer_fixture.h"
#include "worker/train/lease_trainer.h"

namespace shoal {
namespace {

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
    trainer->Hold(1, [&] {
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
  trainer->AddLease(MakeLease(0, LeasePurpose::kTrain));
  bool held = false;
  trainer->Hold(1, [&] { held = true; });
  EXPECT_TRUE(held);
  simulator.RunUntilIdle();
  EXPECT_EQ(shards[0]->pushes, 0u);
  trainer->Resume();
  simulator.RunUntilIdle();
  EXPECT_EQ(shards[0]->pushes, 3u);
}

TEST_F(LeaseTrainerTest, HeldItTrainsTheLeasesThatComeThen) {
  for (const bool stuck : {false, true}) {
    SCOPED_TRACE(stuck ? "the first lease cannot be read on" : "");
    sent.clear();
    log.clear();
    batches_in_piece = 20;
    stuck_sources = stuck;
    Start(1);
    trainer->AddLease(MakeLease(0, LeasePurpose::kTrain));
    simulator.RunFor(absl::Microseconds(3500));
    bool held = false;
    trainer->Hold(1, [&] { held = true; });
    simulator.RunUntilIdle();
    ASSERT_TRUE(held);
    const int requests = Sent<LeaseRequest>();
    const uint64_t pushes = shards[0]->pushes;
    log.clear();
    stuck_sources = false;
    batches_in_piece = 5;
    trainer->AddLease(MakeLease(7, LeasePurpose::kTrain));
    simulator.RunUntilIdle();
    EXPECT_EQ(shards[0]->pushes, pushes + 5);
    EXPECT_EQ(shards[1]->pushes, pushes + 5);
    EXPECT_EQ(shards[0]->last_push_lease, 7u);
    ASSERT_EQ(Sent<LeaseDone>(), 1);
    EXPECT_EQ(std::get<LeaseDone>(sent.back()).lease, 7u);
    EXPECT_EQ(Sent<LeaseRequest>(), requests) << "it was not asked for";
    trainer->Resume();
    simulator.RunUntilIdle();
    EXPECT_EQ(shards[0]->pushes, stuck ? 5u : 25u);
    trainer->Abandon();
  }
}

TEST_F(LeaseTrainerTest, ALeaseThatComesBeforeItIsHeldIsTrainedOnceItIs) {
  batches_in_piece = 1;
  Start(0);
  trainer->AddLease(MakeLease(0, LeasePurpose::kTrain));
  simulator.RunFor(absl::Microseconds(500));
  bool held = false;
  trainer->Hold(1, [&] { held = true; });
  trainer->AddLease(MakeLease(7, LeasePurpose::kTrain));
  EXPECT_FALSE(held);
  simulator.RunUntilIdle();
  EXPECT_TRUE(held);
  EXPECT_EQ(Sent<LeaseDone>(), 2);
}

TEST_F(LeaseTrainerTest, HeldAgainItTrainsNothingOfTheHoldBefore) {
  Start(1);
  trainer->Hold(1, [] {});
  batches_in_piece = 20;
  trainer->AddLease(MakeLease(7, LeasePurpose::kTrain));
  simulator.RunFor(absl::Microseconds(3500));
  ASSERT_GT(shards[0]->pushes, 0u);
  trainer->Resume();
  bool held = false;
  trainer->Hold(1, [&] { held = true; });
  simulator.RunUntilIdle();
  EXPECT_TRUE(held);
  EXPECT_LT(shards[0]->pushes, 20u);
  trainer->Resume();
  simulator.RunUntilIdle();
  EXPECT_EQ(shards[0]->pushes, 20u);
  EXPECT_EQ(Sent<LeaseDone>(), 1);
}

TEST_F(LeaseTrainerTest, ResumedInTimeItWasNeverHeld) {
  batches_in_piece = 20;
  Start(1);
  trainer->AddLease(MakeLease(0, LeasePurpose::kTrain));
  simulator.RunFor(absl::Microseconds(3500));
  bool held = false;
  trainer->Hold(1, [&] { held = true; });
  trainer->Resume();
  simulator.RunUntilIdle();
  EXPECT_FALSE(held);
  EXPECT_EQ(shards[0]->pushes, 20u);
}

}  // namespace
}  // namespace shoal
