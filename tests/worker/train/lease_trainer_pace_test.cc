#include <cstdint>
#include <variant>
#include <vector>

#include "gmock/gmock.h"
#include "tests/worker/train/lease_trainer_fixture.h"
#include "worker/train/lease_trainer.h"

namespace shoal {
namespace {

using ::testing::ElementsAre;

// The numbers of all StepsFinished that were sent.
std::vector<uint64_t> Finished(const std::vector<ProcessMessage>& sent) {
  std::vector<uint64_t> steps;
  for (const ProcessMessage& message : sent) {
    if (const auto* finished = std::get_if<StepsFinished>(&message)) {
      steps.push_back(finished->steps);
    }
  }
  return steps;
}

TEST_F(LeaseTrainerTest, WithoutAPaceItTellsOfNoStep) {
  Start(0);
  trainer->AddLease(MakeLease(1, LeasePurpose::kTrain));
  simulator.RunUntilIdle();
  EXPECT_EQ(shards[0]->pushes, 3u);
  EXPECT_EQ(Sent<StepsFinished>(), 0);
}

TEST_F(LeaseTrainerTest, ItWaitsForItsPaceAndTellsOfEachStep) {
  batches_in_piece = 5;
  Start(0);
  trainer->SetPace({2});
  trainer->AddLease(MakeLease(1, LeasePurpose::kTrain));
  simulator.RunUntilIdle();
  EXPECT_EQ(shards[0]->pushes, 2u);
  EXPECT_THAT(Finished(sent), ElementsAre(1, 2));
  trainer->SetPace({4});
  simulator.RunUntilIdle();
  EXPECT_EQ(shards[0]->pushes, 4u);
  trainer->SetPace({9});
  simulator.RunUntilIdle();
  EXPECT_EQ(shards[0]->pushes, 5u);
  EXPECT_THAT(Finished(sent), ElementsAre(1, 2, 3, 4, 5));
  // The coordinator counts the last step while the worker holds the lease.
  ASSERT_EQ(Sent<LeaseDone>(), 1);
  EXPECT_TRUE(std::holds_alternative<LeaseDone>(sent.back()));
}

TEST_F(LeaseTrainerTest, TheStepsOfALifeCountOverItsLeases) {
  Start(0);
  trainer->SetPace({4});
  trainer->AddLease(MakeLease(1, LeasePurpose::kTrain));
  trainer->AddLease(MakeLease(2, LeasePurpose::kTrain));
  simulator.RunUntilIdle();
  EXPECT_EQ(shards[0]->pushes, 4u);
  EXPECT_THAT(Finished(sent), ElementsAre(1, 2, 3, 4));
}

TEST_F(LeaseTrainerTest, ARejectedBatchIsAStepToo) {
  model.bad_loss = 1;
  Start(0);
  trainer->SetPace({9});
  trainer->AddLease(MakeLease(1, LeasePurpose::kTrain));
  simulator.RunUntilIdle();
  EXPECT_EQ(shards[0]->rejected, 1u);
  EXPECT_THAT(Finished(sent), ElementsAre(1, 2, 3));
}

TEST_F(LeaseTrainerTest, WhereItWaitsForItsPaceItIsHeldAtOnce) {
  batches_in_piece = 5;
  Start(1);
  trainer->SetPace({1});
  trainer->AddLease(MakeLease(1, LeasePurpose::kTrain));
  simulator.RunUntilIdle();
  EXPECT_EQ(shards[0]->pushes, 2u) << "the pace and the depth";
  bool held = false;
  trainer->Hold(1, [&] { held = true; });
  EXPECT_TRUE(held);
  // What the save needs does not wait either, and does not count.
  batches_in_piece = 2;
  trainer->AddLease(MakeLease(7, LeasePurpose::kTrain));
  simulator.RunUntilIdle();
  EXPECT_EQ(shards[0]->pushes, 4u);
  EXPECT_EQ(Sent<LeaseDone>(), 1);
  EXPECT_THAT(Finished(sent), ElementsAre(1, 2));
  trainer->Resume();
  simulator.RunUntilIdle();
  EXPECT_EQ(shards[0]->pushes, 4u);
  trainer->SetPace({2});
  simulator.RunUntilIdle();
  EXPECT_EQ(shards[0]->pushes, 5u);
  EXPECT_THAT(Finished(sent), ElementsAre(1, 2, 3));
}

TEST_F(LeaseTrainerTest, AnEvaluationKeepsToNoPace) {
  Start(1);
  trainer->SetPace({0});
  trainer->AddLease(MakeLease(1, LeasePurpose::kEvaluate));
  simulator.RunUntilIdle();
  EXPECT_EQ(Sent<LeaseDone>(), 1);
  EXPECT_EQ(Sent<StepsFinished>(), 0);
}

}  // namespace
}  // namespace shoal
