#include "coordinator/member_loss.h"

#include <string>
#include <variant>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/coordinator/members.h"

namespace shoal {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// A PS (session 1) and a worker (session 2).
class MemberLossTest : public testing::Test {
 protected:
  MemberLossTest()
      : membership_(MembershipOptions{}),
        ps_(Join(Role::kPs, 0, 1, &membership_)),
        worker_(Join(Role::kWorker, 0, 2, &membership_)) {}

  static std::string Line(const CoordinatorActions& actions) {
    EXPECT_THAT(actions, SizeIs(1));
    return std::get<LogAction>(actions.at(0)).line;
  }

  Membership membership_;
  Member ps_;
  Member worker_;
};

TEST_F(MemberLossTest, BeforeTrainingAnotherProcessMayTakeThePlaceOfAServer) {
  const JobEffects effects = AfterLoss(SessionEnded(ps_, absl::OkStatus()),
                                       JobPhase::kGathering, absl::Seconds(90));
  EXPECT_FALSE(effects.end.has_value());
  EXPECT_EQ(Line(effects.actions),
            "ps 0 (h0:1) died: its session ended before it left the job; "
            "nothing is trained yet, so another process may take its place, "
            "within 1m30s");
}

TEST_F(MemberLossTest, AServerThatIsLostEndsTheJob) {
  const JobEffects effects =
      AfterLoss(PortClosed(ps_), JobPhase::kTraining, absl::ZeroDuration());
  ASSERT_TRUE(effects.end.has_value());
  EXPECT_EQ(effects.end->status,
            absl::UnavailableError(
                "ps 0 (h0:1) died: its connection broke, and its address "
                "refuses new connections; its shard's state is lost"));
  EXPECT_EQ(effects.end->first, "ps 0");
  EXPECT_TRUE(effects.end->lost);
  EXPECT_THAT(effects.actions, IsEmpty());
}

TEST_F(MemberLossTest, AServerThatNeverOpenedItsSessionHasNoState) {
  ps_.session = 0;
  const JobEffects effects =
      AfterLoss(Replaced(ps_), JobPhase::kTraining, absl::ZeroDuration());
  EXPECT_FALSE(effects.end.has_value());
  EXPECT_THAT(Line(effects.actions), HasSubstr("another process took"));
}

TEST_F(MemberLossTest, AWorkersLeasesReturnAndTheJobGoesOn) {
  const JobEffects effects = AfterLoss(
      BrokeProtocol(worker_, absl::InvalidArgumentError("no such piece")),
      JobPhase::kTraining, absl::ZeroDuration());
  EXPECT_FALSE(effects.end.has_value());
  EXPECT_EQ(Line(effects.actions),
            "worker 0 broke the protocol: no such piece; its work is given to "
            "other workers");
}

TEST_F(MemberLossTest, AJobThatIsEndingSaysNothing) {
  for (const Member& member : {ps_, worker_}) {
    const JobEffects effects =
        AfterLoss(Silent(member, absl::Seconds(5)), JobPhase::kEnding,
                  absl::ZeroDuration());
    EXPECT_FALSE(effects.end.has_value());
    EXPECT_THAT(effects.actions, IsEmpty());
  }
}

TEST_F(MemberLossTest, SilenceIsToldByWhetherThereIsAConnection) {
  EXPECT_EQ(Silent(worker_, absl::Seconds(5)).how,
            "was silent for more than 5s and is taken for dead");
  worker_.suspended = true;
  const MemberLoss loss = Silent(worker_, absl::Seconds(5));
  EXPECT_EQ(loss.how,
            "died: its connection broke, and it did not come back within 5s");
  EXPECT_EQ(loss.why, absl::DeadlineExceededError(
                          "worker 0 did not come back within 5s"));
}

TEST_F(MemberLossTest, AServerLosesMarksWhereTheJobHasMoreCompleteBatches) {
  EXPECT_FALSE(LostMarks(ps_, {2, 1, 0}, 3).has_value());
  const auto lost = LostMarks(ps_, {2, 1, 0}, 4);
  ASSERT_TRUE(lost.has_value());
  EXPECT_THAT(std::string(lost->why.message()),
              HasSubstr("came back with 3 batches, but the job has 4"));
  EXPECT_FALSE(LostMarks(worker_, {}, 4).has_value()) << "it has no marks";
}

TEST_F(MemberLossTest, OnlyPortsOfProcessesWithoutAConnectionAreLookedAt) {
  EXPECT_THAT(Probes(membership_), IsEmpty());
  membership_.Suspend(2, absl::UnixEpoch());
  const CoordinatorActions port = Probes(membership_);
  ASSERT_THAT(port, SizeIs(1));
  EXPECT_EQ(std::get<ProbeAction>(port[0]).address, worker_.ring_address);
  membership_.SetRingAddress(worker_.life, "h0:8");
  EXPECT_EQ(std::get<ProbeAction>(Probes(membership_)[0]).address,
            worker_.ring_address)
      << "the first port listens as long as the process lives";
  membership_.Resume(2, absl::UnixEpoch());
  membership_.Suspend(1, absl::UnixEpoch());
  const CoordinatorActions probes = Probes(membership_);
  ASSERT_THAT(probes, SizeIs(1));
  EXPECT_EQ(std::get<ProbeAction>(probes[0]).address, "h0:1");
}

TEST_F(MemberLossTest, TheOtherRanksGoOnWithoutALostOne) {
  const MemberLoss loss = Silent(worker_, absl::Seconds(5));
  for (const JobPhase phase :
       {JobPhase::kRestoring, JobPhase::kTraining, JobPhase::kEvaluating}) {
    const JobEffects effects = AfterLoss(loss, phase, absl::ZeroDuration(), "",
                                         /*fixed_workers=*/true);
    EXPECT_FALSE(effects.end.has_value());
    EXPECT_EQ(Line(effects.actions),
              "worker 0 was silent for more than 5s and is taken for dead; the "
              "other workers go on without it, and train again what it had "
              "begun");
    EXPECT_TRUE(IsRankLoss(worker_, phase, true));
    EXPECT_FALSE(IsRankLoss(worker_, phase, false));
    EXPECT_FALSE(IsRankLoss(ps_, phase, true));
  }
  EXPECT_FALSE(IsRankLoss(worker_, JobPhase::kGathering, true));
  EXPECT_FALSE(IsRankLoss(worker_, JobPhase::kReporting, true));
}

TEST_F(MemberLossTest, ARankMayBeMissingOnceAllIsScored) {
  Member copy = ps_;
  copy.in_rank = true;
  for (const Member& member : {worker_, copy}) {
    const JobEffects effects =
        AfterLoss(Silent(member, absl::Seconds(5)), JobPhase::kReporting,
                  absl::ZeroDuration(), "", true);
    EXPECT_FALSE(effects.end.has_value());
    EXPECT_THAT(Line(effects.actions), HasSubstr("scored without it"));
  }
  EXPECT_TRUE(AfterLoss(Silent(ps_, absl::Seconds(5)), JobPhase::kReporting,
                        absl::ZeroDuration(), "", true)
                  .end.has_value())
      << "a server";
}

TEST_F(MemberLossTest, ARankWithTheOnlyFilesOfItsHostEndsTheJob) {
  const JobEffects effects =
      AfterLoss(Silent(worker_, absl::Seconds(5)), JobPhase::kTraining,
                absl::ZeroDuration(), "h7", true);
  ASSERT_TRUE(effects.end.has_value());
  EXPECT_TRUE(effects.end->lost);
  EXPECT_THAT(std::string(effects.end->status.message()),
              HasSubstr("no other worker can read the files of host h7"));
}

TEST_F(MemberLossTest, TheMembersOfARankAreLostTogether) {
  const PsMembers ps{.count = 2, .replicated = 0};
  Membership ring{MembershipOptions{.ps = ps}};
  RegisterRequest request;
  request.index = 1;
  request.train_sources = {{"a", 100, 1}};
  const absl::Time now = absl::UnixEpoch();
  uint64_t session = 0;
  for (const Role role : {Role::kPs, Role::kWorker}) {
    request.role = role;
    ASSERT_TRUE(
        ring.Open(++session, ring.Register(request, now).value(), now).ok());
  }
  for (const Role role : {Role::kPs, Role::kWorker}) {
    const auto members = MembersOfProcess(*ring.Find(role, 1), ring, ps);
    ASSERT_THAT(members, SizeIs(2));
    EXPECT_EQ(members[0].role, Role::kWorker);
    EXPECT_EQ(members[1].role, Role::kPs);
  }
  EXPECT_THAT(MembersOfProcess(worker_, membership_, {}), SizeIs(1));
}

TEST_F(MemberLossTest, AServerInTheProcessOfARankHasNoPortToLookAt) {
  Membership ring{MembershipOptions{}};
  RegisterRequest request;
  request.role = Role::kPs;
  const absl::Time now = absl::UnixEpoch();
  ASSERT_TRUE(ring.Open(1, ring.Register(request, now).value(), now).ok());
  ring.Suspend(1, now);
  EXPECT_THAT(Probes(ring), IsEmpty());
}

// The worker's connection breaks with it.
TEST_F(MemberLossTest, AServerInTheProcessOfARankIsNoNewsOfItsOwn) {
  Member copy = ps_;
  copy.in_rank = true;
  const CoordinatorActions actions =
      AfterBreak(copy, absl::UnavailableError("reset"), absl::Seconds(5));
  ASSERT_THAT(actions, SizeIs(1));
  EXPECT_EQ(std::get<LogAction>(actions[0]).level, LogLevel::kDebug);
}

TEST_F(MemberLossTest, ABrokenConnectionIsToldWithTheTimeToComeBack) {
  EXPECT_EQ(Line(AfterBreak(worker_, absl::UnavailableError("reset"),
                            absl::Seconds(5))),
            "the connection of worker 0 broke (reset); it has 5s to come back, "
            "and its pieces may be leased again");
  EXPECT_THAT(Line(AfterBreak(ps_, absl::OkStatus(), absl::Seconds(5))),
              ::testing::Not(HasSubstr("pieces")));
}

}  // namespace
}  // namespace shoal
