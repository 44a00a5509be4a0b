#include "ps/shard/step_gather.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace shoal {
namespace {

using Decision = StepGather::Decision;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

Life Worker(uint32_t rank) { return {1, 10 + rank}; }

PushedBatch BatchOf(uint32_t rank, uint32_t index = 0, uint64_t lease = 1) {
  return {.id = {0, rank, index}, .lease = lease, .examples = 8};
}

StepClosed Closed(uint64_t step, std::vector<PushedBatch> batches,
                  bool hold = false) {
  return {step, PushedBatches(batches.begin(), batches.end()), hold};
}

class StepGatherTest : public testing::Test {
 protected:
  // The decision on a push of the rank's batch; its ticket is `ticket`.
  std::optional<Decision> Push(uint64_t ticket, uint32_t rank, uint64_t step,
                               uint32_t index = 0) {
    const auto arrival = gather_.OnPush(ticket, Worker(rank), step,
                                        BatchOf(rank, index, lease_));
    if (!arrival.ok()) return std::nullopt;
    replaced_ = arrival->replaced;
    return arrival->decision;
  }
  // The tickets of the step that is ready; empty: none is.
  std::vector<std::optional<uint64_t>> Ready() {
    const auto ready = gather_.TakeReady();
    return ready.has_value() ? ready->tickets
                             : std::vector<std::optional<uint64_t>>();
  }
  // The steps of the GenerationReady of this number; nullopt: it is not the
  // last report.
  std::optional<uint64_t> ReadyFor(uint64_t generation) {
    const auto reports = gather_.TakeReports();
    if (reports.empty()) return std::nullopt;
    const auto* ready = std::get_if<GenerationReady>(&reports.back());
    if (ready == nullptr || ready->number != generation) return std::nullopt;
    return ready->steps;
  }
  // Applies a step of one rank.
  void DoStep(uint64_t step, bool hold = false) {
    const uint32_t index = static_cast<uint32_t>(step);
    ASSERT_EQ(Push(100 + step, 0, step, index), Decision::kParked);
    ASSERT_TRUE(gather_.Close(Closed(step, {BatchOf(0, index)}, hold)).ok());
    ASSERT_THAT(Ready(), ElementsAre(100 + step));
    gather_.OnApplied();
    gather_.TakeReports();
  }

  StepGather gather_{{.reports = true}};
  std::optional<uint64_t> replaced_;
  uint64_t lease_ = 1;
};

TEST_F(StepGatherTest, AStepIsReadyWhenItIsClosedAndItsPushesAreThere) {
  EXPECT_EQ(Push(1, 0, 1), Decision::kParked);
  EXPECT_EQ(Push(2, 1, 1), Decision::kParked);
  EXPECT_THAT(Ready(), IsEmpty()) << "nobody has closed the step";
  const auto dropped =
      gather_.Close(Closed(1, {BatchOf(1), BatchOf(0), BatchOf(2)}));
  ASSERT_TRUE(dropped.ok()) << dropped.status();
  EXPECT_THAT(*dropped, IsEmpty());
  EXPECT_THAT(Ready(), IsEmpty()) << "rank 2's push is missing";
  EXPECT_EQ(Push(3, 2, 1), Decision::kParked);
  EXPECT_THAT(Ready(), ElementsAre(2, 1, 3)) << "in the order of the set";
  EXPECT_EQ(gather_.applied(), 0u);
  gather_.OnApplied();
  EXPECT_EQ(gather_.applied(), 1u);
  EXPECT_THAT(Ready(), IsEmpty());
}

TEST_F(StepGatherTest, APushThatIsNotInTheClosedSetIsPast) {
  EXPECT_EQ(Push(1, 0, 1), Decision::kParked);
  EXPECT_EQ(Push(2, 1, 1), Decision::kParked);
  const auto dropped = gather_.Close(Closed(1, {BatchOf(0)}));
  ASSERT_TRUE(dropped.ok());
  EXPECT_THAT(*dropped, ElementsAre(2));
  EXPECT_EQ(Push(3, 2, 1), Decision::kPast) << "while it is closed";
  EXPECT_THAT(Ready(), ElementsAre(1));
  EXPECT_EQ(Push(4, 2, 1), Decision::kPast) << "while it is applied";
  EXPECT_EQ(Push(5, 0, 1), Decision::kApplying) << "a copy";
  gather_.OnApplied();
  EXPECT_EQ(Push(6, 2, 1), Decision::kPast) << "afterwards";
  EXPECT_EQ(Push(7, 0, 1), Decision::kPast) << "a copy";
  EXPECT_EQ(Push(8, 0, 2, 1), Decision::kParked);
}

TEST_F(StepGatherTest, AClosedStepWaitsForAPushThatWasTakenOut) {
  EXPECT_EQ(Push(1, 0, 1), Decision::kParked);
  EXPECT_EQ(Push(2, 1, 1), Decision::kParked);
  EXPECT_TRUE(gather_.OnTimeout(1));
  EXPECT_FALSE(gather_.OnTimeout(1));
  ASSERT_TRUE(gather_.Close(Closed(1, {BatchOf(0), BatchOf(1)})).ok());
  EXPECT_THAT(Ready(), IsEmpty());
  EXPECT_EQ(Push(3, 0, 1), Decision::kParked);
  EXPECT_TRUE(gather_.OnTimeout(2)) << "taken out when it is closed already";
  EXPECT_THAT(Ready(), IsEmpty());
  EXPECT_EQ(Push(4, 1, 1), Decision::kParked);
  EXPECT_THAT(Ready(), ElementsAre(3, 4));
  EXPECT_FALSE(gather_.OnTimeout(4)) << "it is being applied";
}

TEST_F(StepGatherTest, ANewerCopyTakesThePlaceOfAParkedPush) {
  EXPECT_EQ(Push(1, 0, 1), Decision::kParked);
  EXPECT_EQ(replaced_, std::nullopt);
  EXPECT_EQ(Push(2, 0, 1), Decision::kParked);
  EXPECT_EQ(replaced_, 1u);
  EXPECT_FALSE(gather_.OnTimeout(1));
  ASSERT_TRUE(gather_.Close(Closed(1, {BatchOf(0)})).ok());
  EXPECT_THAT(Ready(), ElementsAre(2));
}

TEST_F(StepGatherTest, ReportsTellWhatIsParkedForTheOpenStep) {
  Push(1, 0, 1);
  Push(2, 0, 1);  // a copy is no news
  Push(3, 1, 1);
  gather_.OnTimeout(2);
  auto reports = gather_.TakeReports();
  ASSERT_EQ(reports.size(), 3u);
  const auto* parked = std::get_if<StepParked>(&reports[0]);
  ASSERT_NE(parked, nullptr);
  EXPECT_EQ(parked->step, 1u);
  EXPECT_EQ(parked->worker, Worker(0));
  EXPECT_EQ(parked->batch, BatchOf(0));
  ASSERT_NE(std::get_if<StepParked>(&reports[1]), nullptr);
  const auto* out = std::get_if<StepTakenOut>(&reports[2]);
  ASSERT_NE(out, nullptr);
  EXPECT_EQ(out->step, 1u);
  EXPECT_EQ(out->worker, Worker(0));
  // A closed step is not in question any more.
  ASSERT_TRUE(gather_.Close(Closed(1, {BatchOf(0), BatchOf(1)})).ok());
  Push(4, 0, 1);
  gather_.OnTimeout(3);
  EXPECT_FALSE(gather_.has_reports());
}

TEST_F(StepGatherTest, OnlyTheShardThatIsAskedToReports) {
  StepGather other({.reports = false});
  ASSERT_TRUE(other.OnPush(1, Worker(0), 1, BatchOf(0)).ok());
  EXPECT_TRUE(other.OnTimeout(1));
  EXPECT_THAT(other.TakeReports(), IsEmpty());
}

TEST_F(StepGatherTest, AfterAHoldNoPushIsParkedUntilTheRelease) {
  DoStep(1);
  DoStep(2, /*hold=*/true);
  EXPECT_EQ(Push(1, 0, 3, 7), Decision::kHeld);
  EXPECT_EQ(Push(2, 1, 2, 7), Decision::kPast) << "a late push of a step";
  EXPECT_FALSE(gather_.has_reports());
  gather_.Release();
  EXPECT_EQ(Push(3, 0, 3, 7), Decision::kParked);
  EXPECT_TRUE(gather_.has_reports());
}

TEST_F(StepGatherTest, AReleaseBeforeTheClosedStepIsAppliedEndsItsHold) {
  Push(1, 0, 1);
  ASSERT_TRUE(gather_.Close(Closed(1, {BatchOf(0)}, /*hold=*/true)).ok());
  ASSERT_THAT(Ready(), ElementsAre(1));
  gather_.Release();
  gather_.OnApplied();
  EXPECT_EQ(Push(2, 0, 2, 1), Decision::kParked);
}

TEST_F(StepGatherTest, AStepThatFailedWaitsForAllItsPushesAgain) {
  Push(1, 0, 1);
  Push(2, 1, 1);
  ASSERT_TRUE(gather_.Close(Closed(1, {BatchOf(0), BatchOf(1)})).ok());
  ASSERT_THAT(Ready(), ElementsAre(1, 2));
  gather_.OnFailed();
  EXPECT_THAT(Ready(), IsEmpty());
  EXPECT_EQ(gather_.applied(), 0u);
  EXPECT_EQ(Push(3, 1, 1), Decision::kParked);
  EXPECT_THAT(Ready(), IsEmpty());
  EXPECT_EQ(Push(4, 2, 1), Decision::kPast) << "the set stays as it is";
  EXPECT_EQ(Push(5, 0, 1), Decision::kParked);
  EXPECT_THAT(Ready(), ElementsAre(5, 3));
  gather_.OnApplied();
  EXPECT_EQ(gather_.applied(), 1u);
}

TEST_F(StepGatherTest, RefusesWhatNoWorkerOfTheJobSends) {
  const auto code = [&](uint64_t step, PushedBatch batch, uint32_t rank = 0) {
    return gather_.OnPush(9, Worker(rank), step, batch).status().code();
  };
  EXPECT_EQ(code(2, BatchOf(0)), absl::StatusCode::kInvalidArgument);
  PushedBatch empty = BatchOf(0);
  empty.examples = 0;
  EXPECT_EQ(code(1, empty), absl::StatusCode::kInvalidArgument);
  empty.rejected = true;
  EXPECT_EQ(code(1, empty), absl::StatusCode::kOk);
  EXPECT_EQ(code(1, BatchOf(0, 1)), absl::StatusCode::kInvalidArgument)
      << "a second batch of the worker";
  EXPECT_EQ(code(1, BatchOf(0), 1), absl::StatusCode::kUnavailable)
      << "another worker's batch";
}

TEST_F(StepGatherTest, RefusesASetThatIsNotOfTheOpenStep) {
  const auto code = [&](StepClosed step) {
    return gather_.Close(std::move(step)).status().code();
  };
  constexpr auto kFailed = absl::StatusCode::kFailedPrecondition;
  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  EXPECT_EQ(code(Closed(2, {BatchOf(0)})), kFailed);
  EXPECT_EQ(code(Closed(1, {})), kInvalid);
  EXPECT_EQ(code(Closed(1, {BatchOf(0), BatchOf(0)})), kInvalid);
  PushedBatch empty = BatchOf(0);
  empty.examples = 0;
  EXPECT_EQ(code(Closed(1, {empty})), kInvalid);
  EXPECT_EQ(code(Closed(1, {BatchOf(0)})), absl::StatusCode::kOk);
  EXPECT_EQ(code(Closed(1, {BatchOf(0)})), kFailed) << "closed twice";
  EXPECT_EQ(code(Closed(2, {BatchOf(0)})), kFailed) << "before the one before";
}

// ---- Generations

TEST_F(StepGatherTest, TheEndOfAGenerationDropsTheOpenStep) {
  DoStep(1);
  EXPECT_EQ(Push(1, 0, 2, 7), Decision::kParked);
  EXPECT_EQ(Push(2, 1, 2, 7), Decision::kParked);
  EXPECT_THAT(gather_.EndGeneration({.number = 2}), ElementsAre(1, 2));
  EXPECT_FALSE(gather_.settling());
  EXPECT_EQ(ReadyFor(2), 1u) << "and nothing is told of the open step";
  EXPECT_EQ(Push(3, 0, 2, 7), Decision::kHeld);
  EXPECT_EQ(Push(4, 0, 1, 1), Decision::kPast) << "a repeat";
  EXPECT_FALSE(gather_.has_reports());
  ASSERT_TRUE(gather_.BeginGeneration({2, {Worker(0), Worker(2)}}).ok());
  lease_ = 2;
  EXPECT_EQ(Push(5, 0, 2, 7), Decision::kParked);
  EXPECT_EQ(Push(6, 2, 2, 7), Decision::kParked);
  EXPECT_EQ(gather_.TakeReports().size(), 2u);
}

TEST_F(StepGatherTest, AWorkerOfAnotherGenerationIsRefused) {
  gather_.EndGeneration({.number = 2});
  ASSERT_TRUE(gather_.BeginGeneration({2, {Worker(0)}}).ok());
  const auto refused = gather_.OnPush(1, Worker(1), 1, BatchOf(1));
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(refused.status().message()),
              ::testing::HasSubstr("is not of this generation"));
  lease_ = 2;
  EXPECT_EQ(Push(2, 0, 1), Decision::kParked);
}

TEST_F(StepGatherTest, APushUnderALeaseOfAnOldGenerationComesTooLate) {
  lease_ = 5;
  EXPECT_EQ(Push(1, 0, 1), Decision::kParked);
  gather_.EndGeneration({.number = 2});
  ASSERT_TRUE(gather_.BeginGeneration({2, {Worker(0)}}).ok());
  EXPECT_EQ(Push(2, 0, 1), Decision::kPast) << "the network brought it twice";
  lease_ = 6;
  EXPECT_EQ(Push(3, 0, 1, 4), Decision::kParked);
  // A lease of which this shard has seen nothing.
  gather_.EndGeneration({.number = 3});
  lease_ = 9;
  EXPECT_EQ(Push(4, 0, 1, 4), Decision::kHeld) << "perhaps it is new";
  ASSERT_TRUE(gather_.BeginGeneration({3, {Worker(0)}, /*leases=*/8}).ok());
  EXPECT_EQ(Push(5, 0, 1, 4), Decision::kParked) << "it is";
  lease_ = 8;
  EXPECT_EQ(Push(6, 0, 1, 5), Decision::kPast);
}

TEST_F(StepGatherTest, TheClosedStepWaitsForSurvivorsAndNotForTheLost) {
  EXPECT_EQ(Push(1, 0, 1), Decision::kParked);
  ASSERT_TRUE(
      gather_.Close(Closed(1, {BatchOf(0), BatchOf(1), BatchOf(2)})).ok());
  EXPECT_THAT(gather_.EndGeneration({2, {BatchOf(1).id}}), IsEmpty());
  EXPECT_TRUE(gather_.settling());
  EXPECT_EQ(ReadyFor(2), std::nullopt);
  EXPECT_THAT(Ready(), IsEmpty()) << "rank 2 lives";
  EXPECT_EQ(Push(2, 1, 1), Decision::kPast) << "a lost one that thawed";
  EXPECT_EQ(Push(3, 3, 1), Decision::kPast);
  EXPECT_EQ(Push(4, 2, 1), Decision::kParked);
  EXPECT_THAT(Ready(), ElementsAre(1, std::nullopt, 4));
  EXPECT_EQ(ReadyFor(2), std::nullopt);
  gather_.OnApplied();
  EXPECT_EQ(ReadyFor(2), 1u);
  EXPECT_FALSE(gather_.settling());
}

TEST_F(StepGatherTest, AParkedPushOfALostWorkerStaysInTheClosedStep) {
  EXPECT_EQ(Push(1, 0, 1), Decision::kParked);
  ASSERT_TRUE(gather_.Close(Closed(1, {BatchOf(0), BatchOf(1)})).ok());
  gather_.EndGeneration({2, {BatchOf(0).id}});
  EXPECT_EQ(Push(2, 1, 1), Decision::kParked);
  EXPECT_THAT(Ready(), ElementsAre(1, 2));
}

TEST_F(StepGatherTest, APushOfALostWorkerThatTimesOutIsLeftOut) {
  EXPECT_EQ(Push(1, 0, 1), Decision::kParked);
  ASSERT_TRUE(gather_.Close(Closed(1, {BatchOf(0), BatchOf(1)})).ok());
  gather_.EndGeneration({2, {BatchOf(0).id}});
  EXPECT_TRUE(gather_.OnTimeout(1));
  EXPECT_EQ(Push(2, 1, 1), Decision::kParked);
  EXPECT_THAT(Ready(), ElementsAre(std::nullopt, 2));
}

TEST_F(StepGatherTest, AStepOfWhichNothingIsLeftCountsAsApplied) {
  ASSERT_TRUE(gather_.Close(Closed(1, {BatchOf(0)})).ok());
  gather_.EndGeneration({2, {BatchOf(0).id}});
  EXPECT_THAT(Ready(), ElementsAre(std::nullopt));
  gather_.OnApplied();
  EXPECT_EQ(ReadyFor(2), 1u);
}

TEST_F(StepGatherTest, AStepThatFailsAtTheEndOfAGenerationDoesWithoutTheLost) {
  EXPECT_EQ(Push(1, 0, 1), Decision::kParked);
  EXPECT_EQ(Push(2, 1, 1), Decision::kParked);
  ASSERT_TRUE(gather_.Close(Closed(1, {BatchOf(0), BatchOf(1)})).ok());
  ASSERT_THAT(Ready(), ElementsAre(1, 2));
  gather_.EndGeneration({2, {BatchOf(0).id}});
  gather_.OnFailed();
  EXPECT_EQ(Push(3, 1, 1), Decision::kParked);
  EXPECT_THAT(Ready(), ElementsAre(std::nullopt, 3));
}

TEST_F(StepGatherTest, AClosedStepCanBeGivenUp) {
  EXPECT_EQ(Push(1, 0, 1), Decision::kParked);
  ASSERT_TRUE(gather_.Close(Closed(1, {BatchOf(0), BatchOf(1)})).ok());
  gather_.GiveUp(0);
  EXPECT_THAT(Ready(), IsEmpty()) << "the generation goes on";
  gather_.EndGeneration({.number = 2});
  gather_.EndGeneration({.number = 3});
  gather_.GiveUp(2);
  EXPECT_THAT(Ready(), IsEmpty()) << "of an older number";
  gather_.GiveUp(3);
  EXPECT_THAT(Ready(), ElementsAre(1, std::nullopt));
  gather_.OnApplied();
  EXPECT_EQ(ReadyFor(3), 1u);
  EXPECT_EQ(Push(2, 1, 1), Decision::kPast);
}

TEST_F(StepGatherTest, AnEndMayGetANewNumberAndMoreLostWorkers) {
  ASSERT_TRUE(gather_.Close(Closed(1, {BatchOf(0), BatchOf(1)})).ok());
  gather_.EndGeneration({2, {BatchOf(0).id}});
  gather_.EndGeneration({3, {BatchOf(1).id}});
  EXPECT_THAT(Ready(), ElementsAre(std::nullopt, std::nullopt));
  gather_.OnApplied();
  EXPECT_EQ(ReadyFor(3), 1u);
  gather_.EndGeneration({.number = 4});
  EXPECT_EQ(ReadyFor(4), 1u);
  EXPECT_EQ(gather_.BeginGeneration({3, {Worker(0)}}).code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(gather_.BeginGeneration({4, {Worker(0)}}).ok());
}

TEST_F(StepGatherTest, AHoldEndsWithTheGeneration) {
  DoStep(1, /*hold=*/true);
  gather_.EndGeneration({.number = 2});
  EXPECT_EQ(ReadyFor(2), 1u);
  EXPECT_EQ(Push(1, 0, 2, 7), Decision::kHeld) << "until the next begins";
  ASSERT_TRUE(gather_.BeginGeneration({2, {Worker(0)}}).ok());
  lease_ = 2;
  EXPECT_EQ(Push(2, 0, 2, 7), Decision::kParked);
  // A hold that was closed and not reached.
  ASSERT_TRUE(gather_.Close(Closed(2, {BatchOf(0, 7)}, /*hold=*/true)).ok());
  gather_.EndGeneration({.number = 3});
  ASSERT_THAT(Ready(), ElementsAre(2));
  gather_.OnApplied();
  EXPECT_EQ(ReadyFor(3), 2u);
}

TEST_F(StepGatherTest, GenerationsAndStepsComeInTheirOrder) {
  constexpr auto kFailed = absl::StatusCode::kFailedPrecondition;
  EXPECT_EQ(gather_.BeginGeneration({1, {Worker(0)}}).code(), kFailed);
  ASSERT_TRUE(gather_.Close(Closed(1, {BatchOf(0)})).ok());
  gather_.EndGeneration({.number = 2});
  EXPECT_EQ(gather_.BeginGeneration({2, {Worker(0)}}).code(), kFailed)
      << "a step is closed";
  Push(1, 0, 1);
  ASSERT_THAT(Ready(), ElementsAre(1));
  gather_.OnApplied();
  EXPECT_EQ(gather_.Close(Closed(2, {BatchOf(0, 2)})).status().code(), kFailed);
}

TEST_F(StepGatherTest, AShardThatDoesNotReportPushesSaysThatItIsReady) {
  StepGather other({.reports = false});
  ASSERT_TRUE(other.OnPush(1, Worker(0), 1, BatchOf(0)).ok());
  EXPECT_THAT(other.EndGeneration({.number = 2}), ElementsAre(1));
  EXPECT_EQ(other.TakeReports().size(), 1u);
}

TEST_F(StepGatherTest, TheNumberOfParkedPushesHasALimit) {
  StepGather gather({.parked_max = 2});
  EXPECT_TRUE(gather.OnPush(1, Worker(0), 1, BatchOf(0)).ok());
  EXPECT_TRUE(gather.OnPush(2, Worker(1), 1, BatchOf(1)).ok());
  EXPECT_EQ(gather.OnPush(3, Worker(2), 1, BatchOf(2)).status().code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(gather.OnPush(4, Worker(1), 1, BatchOf(1)).ok()) << "a copy";
}

}  // namespace
}  // namespace shoal
