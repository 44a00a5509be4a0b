#include "coordinator/overdue_text.h"

#include <string>

#include "cluster/lease_table.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Two PSs of which one is there, and two workers of which none is.
class OverdueTextTest : public testing::Test {
 protected:
  OverdueTextTest() : membership_(MembershipOptions{.ps = {.count = 2}}) {
    options_.ps.count = 2;
    options_.num_workers = 2;
    options_.ps_addresses = {"h0:1", "h1:1"};
    RegisterRequest request;
    request.role = Role::kPs;
    request.address = "h0:1";
    const Life life = membership_.Register(request, absl::UnixEpoch()).value();
    EXPECT_TRUE(membership_.Open(1, life, absl::UnixEpoch()).ok());
  }

  std::string Why(Overdue what) {
    const absl::Status status = TooLate(
        what,
        {options_, membership_, loaded_, progress_, facts_, leases_, failure_});
    EXPECT_TRUE(absl::IsDeadlineExceeded(status));
    return std::string(status.message());
  }

  CoordinatorOptions options_;
  Membership membership_;
  LoadedMarks loaded_{2, false};
  JobProgress progress_;
  PieceFacts facts_;
  LeaseTable leases_;
  std::string failure_;
};

TEST_F(OverdueTextTest, NamesEightThatAreMissingAndCountsTheOthers) {
  EXPECT_EQ(MissingProcesses(options_, membership_),
            "ps 1, worker 0, worker 1");
  options_.num_workers = 9;
  EXPECT_THAT(MissingProcesses(options_, membership_),
              HasSubstr("worker 6 and 2 more"));
}

TEST_F(OverdueTextTest, AServerThatIsThereMayLackItsState) {
  EXPECT_THAT(Why(Overdue::kServers),
              HasSubstr("ps 0 (h0:1), which still loads its shard; "
                        "ps 1 (at h1:1); is it running"));
  ASSERT_TRUE(loaded_.AddMember(0, {}).ok());
  EXPECT_THAT(Why(Overdue::kServers),
              HasSubstr("the job still lacks ps 1 (at h1:1); is it running"));
}

TEST_F(OverdueTextTest, WhoHasNotReportedIsNamed) {
  EXPECT_THAT(Why(Overdue::kReport), HasSubstr("ps 0 (h0:1) did not report"));
  progress_.OnShardReport(0, {});
  EXPECT_TRUE(progress_.reported(0));
  EXPECT_EQ(progress_.reports(), 1u);
  EXPECT_THAT(Why(Overdue::kReport), Not(HasSubstr("ps 0")));
}

TEST_F(OverdueTextTest, WhyALeaseFailedIsToldWhereNothingMoves) {
  failure_ = "worker 0 cannot read a";
  EXPECT_THAT(Why(Overdue::kProgress),
              HasSubstr("no live worker holds a lease; " + failure_));
}

TEST_F(OverdueTextTest, ARankThatIsThereMayLackItsState) {
  options_.ring = options_.lanes = true;
  options_.ps.count = options_.num_workers = 1;
  RegisterRequest request;
  request.role = Role::kWorker;
  request.train_sources = {{"a", 100, 1}};
  const Life life = membership_.Register(request, absl::UnixEpoch()).value();
  EXPECT_THAT(Why(Overdue::kServers),
              HasSubstr("the job still lacks worker 0; in this mode"));
  EXPECT_TRUE(membership_.Open(2, life, absl::UnixEpoch()).ok());
  EXPECT_THAT(Why(Overdue::kServers),
              HasSubstr("the job still lacks ps 0 (h0:1), which still loads"));
}

TEST_F(OverdueTextTest, RanksThatDoNotComeAreNamed) {
  options_.lanes = true;
  EXPECT_THAT(Why(Overdue::kHosts),
              HasSubstr("the job still lacks ps 1, worker 0, worker 1; in this "
                        "mode it begins when all workers are there"));
}

}  // namespace
}  // namespace shoal
