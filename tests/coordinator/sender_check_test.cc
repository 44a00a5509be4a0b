#include "coordinator/sender_check.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/coordinator/members.h"

namespace shoal {
namespace {

using ::testing::HasSubstr;

class SenderCheckTest : public testing::Test {
 protected:
  SenderCheckTest()
      : membership_(MembershipOptions{}),
        ps_(Join(Role::kPs, 0, 1, &membership_)),
        worker_(Join(Role::kWorker, 0, 2, &membership_)) {}

  // Only `right` may send it; what is said of the other process.
  std::string Refused(const Member& right, const ProcessMessage& message) {
    EXPECT_TRUE(CheckSender(right, message).ok());
    const Member& wrong = right.role == Role::kPs ? worker_ : ps_;
    const absl::Status status = CheckSender(wrong, message);
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    return std::string(status.message());
  }

  Membership membership_;
  Member ps_;
  Member worker_;
};

TEST_F(SenderCheckTest, LeasesAndScoresAreForWorkers) {
  EXPECT_EQ(Refused(worker_, LeaseRequest{}),
            "ps 0 (h0:1) sent a LeaseRequest, which only a worker may send");
  EXPECT_THAT(Refused(worker_, PieceReport{}), HasSubstr("a PieceReport"));
  EXPECT_THAT(Refused(worker_, EvalResult{}), HasSubstr("scores"));
}

TEST_F(SenderCheckTest, MarksAndShardsAreForServers) {
  EXPECT_THAT(Refused(ps_, MarkDelta{}), HasSubstr("worker 0 sent marks"));
  EXPECT_THAT(Refused(ps_, MarkRuns{}), HasSubstr("worker 0 sent marks"));
  EXPECT_THAT(Refused(ps_, ShardReport{}), HasSubstr("a ShardReport"));
  EXPECT_THAT(Refused(ps_, ShardWritten{}), HasSubstr("a ShardWritten"));
  EXPECT_THAT(Refused(ps_, ShardSaved{}), HasSubstr("a ShardSaved"));
  EXPECT_THAT(Refused(ps_, ShardLoaded{}),
              HasSubstr("a checkpoint that it was not asked to load"));
  EXPECT_THAT(Refused(ps_, ManifestRequest{}), HasSubstr("a manifest"));
  EXPECT_THAT(Refused(ps_, FileRequest{}), HasSubstr("a checkpoint's file"));
}

TEST_F(SenderCheckTest, EveryProcessBeatsFailsLeavesAndAsksForAStop) {
  for (const Member* member : {&ps_, &worker_}) {
    for (const ProcessMessage& message :
         {ProcessMessage(Heartbeat{}), ProcessMessage(Failure{}),
          ProcessMessage(Bye{}), ProcessMessage(Held{}),
          ProcessMessage(StopRequest{})}) {
      EXPECT_TRUE(CheckSender(*member, message).ok());
    }
  }
}

}  // namespace
}  // namespace shoal
