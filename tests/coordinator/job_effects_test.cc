#include "coordinator/job_effects.h"

#include <variant>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/coordinator/members.h"

namespace shoal {
namespace {

using ::testing::SizeIs;

TEST(JobEffectsTest, AnErrorEndsTheJobAndNamesItsProcess) {
  Membership membership(MembershipOptions{});
  const Member ps = Join(Role::kPs, 0, 1, &membership);
  const auto effects = EndUnlessInvalid(ps, absl::DataLossError("torn"));
  ASSERT_TRUE(effects.ok());
  ASSERT_TRUE(effects->end.has_value());
  EXPECT_EQ(effects->end->status, absl::DataLossError("ps 0 (h0:1): torn"));
  EXPECT_EQ(effects->end->first, "ps 0");
  EXPECT_FALSE(effects->end->stopped);
}

TEST(JobEffectsTest, ABrokenProtocolIsTheSendersFaultAlone) {
  Membership membership(MembershipOptions{});
  const Member worker = Join(Role::kWorker, 0, 1, &membership);
  const absl::Status broken = absl::InvalidArgumentError("no such piece");
  EXPECT_EQ(EndUnlessInvalid(worker, broken).status(), broken);
  const auto nothing = EndUnlessInvalid(worker, absl::OkStatus());
  ASSERT_TRUE(nothing.ok());
  EXPECT_FALSE(nothing->end.has_value());
}

TEST(JobEffectsTest, AMessageGoesToTheSessionOfItsMember) {
  Membership membership(MembershipOptions{});
  CoordinatorActions actions;
  Send(Join(Role::kWorker, 0, 7, &membership), ReportShard{}, &actions);
  ASSERT_THAT(actions, SizeIs(1));
  EXPECT_EQ(std::get<SendAction>(actions[0]).session, 7u);
}

}  // namespace
}  // namespace shoal
