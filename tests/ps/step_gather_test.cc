#include "ps/shard/step_gather.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace shoal {
namespace {

using Decision = StepGather::Decision;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

Life Worker(uint32_t rank) { return {1, 10 + rank}; }

PushedBatch BatchOf(uint32_t rank, uint32_t index = 0) {
  return {.id = {0, rank, index}, .lease = 1, .examples = 8};
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
    const auto arrival =
        gather_.OnPush(ticket, Worker(rank), step, BatchOf(rank, index));
    if (!arrival.ok()) return std::nullopt;
    replaced_ = arrival->replaced;
    return arrival->decision;
  }
  // The tickets of the step that is ready; empty: none is.
  std::vector<uint64_t> Ready() {
    const auto ready = gather_.TakeReady();
    return ready.has_value() ? ready->tickets : std::vector<uint64_t>();
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
