#include "coordinator/worker_pace.h"

#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include "core/step_messages.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/coordinator/members.h"

namespace shoal {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

// Two workers (sessions 1 and 2), of which some hold a lease.
class WorkerPaceTest : public testing::Test {
 protected:
  WorkerPaceTest()
      : membership_(MembershipOptions{}),
        a_(Join(Role::kWorker, 0, 1, &membership_)),
        b_(Join(Role::kWorker, 1, 2, &membership_)) {}

  // The paces that are sent after an event: session and Pace::until.
  std::vector<std::pair<uint64_t, uint64_t>> Sent() {
    std::vector<std::pair<uint64_t, uint64_t>> sent;
    const CoordinatorActions actions = pace_.Follow(
        membership_, [this](Life life) { return holders_.count(life) > 0; });
    for (const CoordinatorAction& action : actions) {
      const auto& send = std::get<SendAction>(action);
      sent.emplace_back(send.session, std::get<Pace>(send.message).until);
    }
    return sent;
  }

  Membership membership_;
  Member a_;
  Member b_;
  std::set<Life> holders_;
  WorkerPace pace_{SspClocksOptions{.bound = 2}};
};

TEST_F(WorkerPaceTest, AWorkerGetsAPaceWithItsFirstLease) {
  EXPECT_THAT(Sent(), IsEmpty());
  holders_ = {a_.life};
  EXPECT_THAT(Sent(), ElementsAre(Pair(1, 3)));
  EXPECT_THAT(Sent(), IsEmpty()) << "it is sent once";
  holders_ = {a_.life, b_.life};
  EXPECT_THAT(Sent(), ElementsAre(Pair(2, 3)));
}

TEST_F(WorkerPaceTest, FinishedStepsOfTheSlowestLetTheOthersGoOn) {
  holders_ = {a_.life, b_.life};
  Sent();
  EXPECT_TRUE(pace_.OnFinished(a_.life, 3).ok());
  EXPECT_THAT(Sent(), IsEmpty());
  EXPECT_TRUE(pace_.OnFinished(b_.life, 1).ok());
  EXPECT_THAT(Sent(), ElementsAre(Pair(1, 4), Pair(2, 4)));
}

TEST_F(WorkerPaceTest, AWorkerThatHoldsNoLeaseAnyMoreHoldsUpNoOther) {
  holders_ = {a_.life, b_.life};
  Sent();
  EXPECT_TRUE(pace_.OnFinished(a_.life, 2).ok());
  holders_ = {a_.life};
  EXPECT_THAT(Sent(), ElementsAre(Pair(1, 5)));
}

TEST_F(WorkerPaceTest, AWorkerThatIsLostHoldsUpNoOtherAndIsSentNothing) {
  holders_ = {a_.life, b_.life};
  Sent();
  EXPECT_TRUE(pace_.OnFinished(a_.life, 2).ok());
  EXPECT_TRUE(pace_.OnFinished(b_.life, 1).ok());
  membership_.Remove(b_.life);
  pace_.OnLost(b_.life);
  EXPECT_THAT(Sent(), ElementsAre(Pair(1, 4), Pair(1, 5)));
}

TEST_F(WorkerPaceTest, ReportsThatCannotBeTrueAreRefused) {
  holders_ = {a_.life};
  Sent();
  EXPECT_TRUE(absl::IsInvalidArgument(pace_.OnFinished(a_.life, 4)));
}

TEST_F(WorkerPaceTest, WithoutABoundNoWorkerIsSentAPaceNorMayReportSteps) {
  pace_ = WorkerPace(std::nullopt);
  holders_ = {a_.life, b_.life};
  EXPECT_THAT(Sent(), IsEmpty());
  EXPECT_TRUE(absl::IsInvalidArgument(pace_.OnFinished(a_.life, 1)));
  pace_.OnLost(a_.life);
  EXPECT_THAT(Sent(), IsEmpty());
}

}  // namespace
}  // namespace shoal
