#include "cluster/membership.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace shoal {
namespace {

using ::testing::HasSubstr;

constexpr absl::Time kT0 = absl::UnixEpoch();

absl::Time At(double seconds) { return kT0 + absl::Seconds(seconds); }

class MembershipTest : public testing::Test {
 protected:
  MembershipTest()
      : members_({.job = "j",
                  .config = "a=1\nb=2\n",
                  .start = 7,
                  .ps = {.count = 2},
                  .silent_after = absl::Seconds(5)}) {}

  RegisterRequest Ps(int index) const {
    RegisterRequest request;
    request.job = "j";
    request.config = "a=1\nb=2\n";
    request.role = Role::kPs;
    request.index = index;
    request.address = "h:1";
    return request;
  }
  RegisterRequest Worker(int index) const {
    RegisterRequest request = Ps(index);
    request.role = Role::kWorker;
    request.train_sources = {{"a", 10, 1}};
    return request;
  }
  absl::Status Refused(const RegisterRequest& request) {
    return members_.Register(request, kT0).status();
  }

  Membership members_;
};

TEST_F(MembershipTest, ComesInAnyOrderAndLivesGrow) {
  EXPECT_EQ(*members_.Register(Worker(3), kT0), (Life{7, 1}));
  EXPECT_EQ(*members_.Register(Ps(1), kT0), (Life{7, 2}));
  EXPECT_EQ(*members_.Register(Worker(0), kT0), (Life{7, 3}));
  EXPECT_EQ(*members_.Register(Ps(0), kT0), (Life{7, 4}));
  EXPECT_EQ(members_.members().size(), 4u);
  EXPECT_TRUE(members_.Open(Role::kPs).empty()) << "no session is open yet";
}

TEST_F(MembershipTest, AServerHasAShardWhichReplicasShare) {
  ASSERT_TRUE(members_.Register(Ps(1), kT0).ok());
  EXPECT_EQ(members_.Find(Role::kPs, 1)->shard, 1);
  ASSERT_TRUE(members_.Register(Worker(0), kT0).ok());
  EXPECT_EQ(members_.Find(Role::kWorker, 0)->shard, -1);

  Membership ring({.job = "j",
                   .config = "a=1\nb=2\n",
                   .ps = {.count = 2, .replicated = 0}});
  const Life first = *ring.Register(Ps(0), kT0);
  const Life second = *ring.Register(Ps(1), kT0);
  EXPECT_NE(first, second) << "each is a member of its own";
  EXPECT_EQ(ring.FindLife(first)->shard, 0);
  EXPECT_EQ(ring.FindLife(second)->shard, 0);
  EXPECT_EQ(ring.Register(Ps(2), kT0).status().code(),
            absl::StatusCode::kInvalidArgument);
  // Both are there, and neither stands for the other.
  ASSERT_TRUE(ring.Open(1, first, kT0).ok());
  ASSERT_TRUE(ring.Open(2, second, kT0).ok());
  EXPECT_EQ(ring.Open(Role::kPs).size(), 2u);
  ring.Remove(first);
  EXPECT_EQ(ring.Open(Role::kPs).size(), 1u);
  EXPECT_EQ(ring.Find(Role::kPs, 1)->life, second);
}

TEST_F(MembershipTest, ASecondLiveProcessIsRefusedUntilTheFirstIsGone) {
  const Life first = *members_.Register(Worker(0), kT0);
  EXPECT_EQ(Refused(Worker(0)).code(), absl::StatusCode::kAlreadyExists);
  ASSERT_TRUE(members_.Open(1, first, kT0).ok());
  EXPECT_EQ(Refused(Worker(0)).code(), absl::StatusCode::kAlreadyExists);
  members_.Remove(first);
  const auto second = members_.Register(Worker(0), kT0);
  ASSERT_TRUE(second.ok());
  EXPECT_GT(*second, first);
  EXPECT_EQ(members_.FindSession(1), nullptr);
}

TEST_F(MembershipTest, AnOldLifeOpensNoSession) {
  const Life first = *members_.Register(Worker(0), kT0);
  members_.Remove(first);
  ASSERT_TRUE(members_.Register(Worker(0), kT0).ok());
  EXPECT_EQ(members_.Open(1, first, kT0).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST_F(MembershipTest, ALifeHasOneSession) {
  const Life life = *members_.Register(Worker(0), kT0);
  ASSERT_TRUE(members_.Open(1, life, kT0).ok());
  EXPECT_EQ(members_.Open(2, life, kT0).status().code(),
            absl::StatusCode::kAlreadyExists);
  EXPECT_NE(members_.FindSession(1), nullptr);
  EXPECT_EQ(members_.FindSession(2), nullptr);
}

TEST_F(MembershipTest, SilenceCountsFromTheNewestWord) {
  const Life life = *members_.Register(Worker(0), At(0));
  EXPECT_TRUE(members_.Silent(At(5)).empty());
  EXPECT_EQ(members_.Silent(At(5.1)).size(), 1u) << "also without a session";
  ASSERT_TRUE(members_.Open(1, life, At(3)).ok());
  EXPECT_TRUE(members_.Silent(At(8)).empty());
  members_.Heard(1, At(7));
  EXPECT_TRUE(members_.Silent(At(12)).empty());
  EXPECT_EQ(members_.Silent(At(12.1)).size(), 1u);
}

TEST_F(MembershipTest, ALifeWhoseAnswerCameTooLateEndsWithTheNextRequest) {
  for (RegisterRequest request : {Worker(0), Ps(1)}) {
    request.process = 77;
    request.attempt = 1;
    const Life unheard = *members_.Register(request, kT0);
    request.attempt = 2;
    const auto life = members_.Register(request, kT0);
    ASSERT_TRUE(life.ok()) << life.status();
    EXPECT_GT(*life, unheard);
    // The earlier request comes again, or late; no process would hear the
    // answer.
    request.attempt = 1;
    EXPECT_EQ(Refused(request).code(), absl::StatusCode::kAlreadyExists);
    EXPECT_FALSE(members_.Open(1, unheard, kT0).ok());
    ASSERT_TRUE(members_.Open(1, *life, kT0).ok());
    // The process has its life.
    request.attempt = 3;
    EXPECT_EQ(Refused(request).code(), absl::StatusCode::kAlreadyExists);
    members_.Remove(*life);
  }
}

TEST_F(MembershipTest, ASuspendedMemberKeepsItsLifeAndItsSession) {
  const Life life = *members_.Register(Worker(0), At(0));
  ASSERT_TRUE(members_.Open(1, life, At(0)).ok());
  members_.Suspend(1, At(4));
  const Member* member = members_.FindLife(life);
  ASSERT_NE(member, nullptr);
  EXPECT_TRUE(member->suspended);
  EXPECT_TRUE(member->open());
  EXPECT_EQ(members_.FindSession(1), member);
  EXPECT_TRUE(members_.Silent(At(9)).empty()) << "from the break on";
  EXPECT_EQ(members_.Silent(At(9.1)).size(), 1u);
  members_.Resume(1, At(8));
  EXPECT_FALSE(members_.FindLife(life)->suspended);
  EXPECT_TRUE(members_.Silent(At(13)).empty());
}

TEST_F(MembershipTest, OnlyASuspendedMembersPlaceMayBeTaken) {
  const Life life = *members_.Register(Worker(0), kT0);
  ASSERT_TRUE(members_.Open(1, life, kT0).ok());
  RegisterRequest request = Worker(0);
  request.attempt = 1;
  EXPECT_EQ(members_.Suspended(request), nullptr);
  members_.Suspend(1, kT0);
  ASSERT_NE(members_.Suspended(request), nullptr);
  EXPECT_EQ(members_.Suspended(request)->life, life);
  EXPECT_EQ(members_.Suspended(Worker(0)), nullptr) << "that came late";
  RegisterRequest successor = Worker(0);  // its first request
  successor.process = 78;
  ASSERT_NE(members_.Suspended(successor), nullptr);
  EXPECT_EQ(members_.Suspended(successor)->life, life);
  RegisterRequest other = request;
  other.index = 1;
  EXPECT_EQ(members_.Suspended(other), nullptr);
  other = request;
  other.config = "a=1\nb=3\n";
  EXPECT_EQ(members_.Suspended(other), nullptr) << "of another job";
}

TEST_F(MembershipTest, TheErrorNamesWhatDiffersAndBothSides) {
  RegisterRequest request = Worker(1);
  request.protocol_version = 99;
  EXPECT_THAT(std::string(Refused(request).message()),
              HasSubstr("worker 1 speaks 99, the coordinator speaks 3"));
  request = Worker(1);
  request.job = "k";
  EXPECT_THAT(std::string(Refused(request).message()),
              HasSubstr("worker 1 has --job=k, the coordinator has --job=j"));
  request = Worker(1);
  request.config = "a=1\nb=3\n";
  EXPECT_THAT(std::string(Refused(request).message()),
              HasSubstr("--b differs: worker 1 has 3, the coordinator has 2"));
  EXPECT_EQ(Refused(request).code(), absl::StatusCode::kFailedPrecondition);
}

// Users of a ring know no servers.
TEST_F(MembershipTest, AServerInTheProcessOfARankHasTheWorkersName) {
  RegisterRequest request = Ps(1);
  request.address = "";
  ASSERT_TRUE(members_.Register(request, kT0).ok());
  const Member& member = *members_.Find(Role::kPs, 1);
  EXPECT_EQ(member.Name(), "worker 1");
  EXPECT_TRUE(member.in_rank);
  request.index = 0;
  request.config = "a=1\nb=3\n";
  EXPECT_THAT(std::string(Refused(request).message()),
              HasSubstr("worker 0 has 3, the coordinator has 2"));
  ASSERT_TRUE(members_.Register(Ps(0), kT0).ok());
  EXPECT_EQ(members_.Find(Role::kPs, 0)->Name(), "ps 0 (h:1)");
  EXPECT_EQ(members_.Find(Role::kPs, 0)->Process(), "ps 0");
  EXPECT_FALSE(members_.Find(Role::kPs, 0)->in_rank);
}

TEST_F(MembershipTest, IndexesThatTheJobHasNotAreRefused) {
  EXPECT_EQ(Refused(Ps(2)).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Refused(Ps(-1)).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Refused(Worker(-1)).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(Refused(Worker(1000)).ok()) << "more workers than expected join";
}

TEST_F(MembershipTest, AllWorkersSeeTheSameFiles) {
  RegisterRequest empty = Worker(0);
  empty.train_sources.clear();
  EXPECT_EQ(Refused(empty).code(), absl::StatusCode::kInvalidArgument);
  ASSERT_TRUE(members_.Register(Worker(0), kT0).ok());
  RegisterRequest other = Worker(1);
  other.train_sources[0].size = 11;
  EXPECT_THAT(std::string(Refused(other).message()),
              HasSubstr("worker 1 has a (11 bytes"));
  other = Worker(1);
  other.eval_sources = {{"e", 1, 1}};
  EXPECT_THAT(std::string(Refused(other).message()),
              HasSubstr("evaluation file 0 differs"));
  EXPECT_TRUE(Refused(Worker(1)).ok());
}

TEST_F(MembershipTest, FilesOfAWorkerThatLeftBeforeTheJobBeganAreForgotten) {
  RegisterRequest wrong = Worker(0);
  wrong.train_sources[0].name = "wrong";
  const Life life = *members_.Register(wrong, kT0);
  EXPECT_FALSE(Refused(Worker(1)).ok());
  members_.Remove(life);
  ASSERT_TRUE(members_.Register(Worker(1), kT0).ok());
  // Once they are in use, they are the job's.
  members_.Begin();
  EXPECT_EQ(members_.files().train().files[0].name, "a");
  members_.Remove(Life{7, 2});
  EXPECT_FALSE(Refused(wrong).ok());
  EXPECT_TRUE(Refused(Worker(0)).ok());
}

TEST_F(MembershipTest, APsThatReturnsHasLostItsStateOnceTheJobHasBegun) {
  Life life = *members_.Register(Ps(1), kT0);
  ASSERT_TRUE(members_.Open(1, life, kT0).ok());
  members_.Remove(life);
  EXPECT_TRUE(Refused(Worker(0)).ok());
  life = *members_.Register(Ps(1), kT0);
  ASSERT_TRUE(members_.Open(2, life, kT0).ok());
  members_.Begin();
  members_.Remove(life);
  const absl::Status status = Refused(Ps(1));
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("ps 1 was in this job as life 7.3"));
  EXPECT_TRUE(Refused(Ps(0)).ok());
}

TEST_F(MembershipTest, APsThatNeverOpenedItsSessionMayTryAgain) {
  const Life life = *members_.Register(Ps(1), kT0);
  members_.Remove(life);
  EXPECT_TRUE(Refused(Ps(1)).ok());
}

TEST_F(MembershipTest, OnlyALifeWithASessionReturns) {
  const Life life = *members_.Register(Worker(0), kT0);
  EXPECT_TRUE(absl::IsNotFound(members_.Returning(life).status()));
  ASSERT_TRUE(members_.Open(1, life, kT0).ok());
  members_.Suspend(1, kT0);
  ASSERT_TRUE(members_.Returning(life).ok());
  EXPECT_EQ((*members_.Returning(life))->session, 1u);
  members_.Remove(life);
  EXPECT_TRUE(absl::IsFailedPrecondition(members_.Returning(life).status()));
}

TEST_F(MembershipTest, ALostRankOfARingJoinsAtTheNextStart) {
  Membership ring({.job = "j",
                   .config = "a=1\nb=2\n",
                   .ps = {.count = 2, .replicated = 0},
                   .fixed_workers = 2,
                   .workers_return = false});
  RegisterRequest copy = Ps(1);
  copy.address = "";
  for (const RegisterRequest& request : {Worker(0), Worker(1), copy}) {
    const auto life = ring.Register(request, kT0);
    ASSERT_TRUE(life.ok());
    ASSERT_TRUE(ring.Open(life->n, *life, kT0).ok());
  }
  ring.Remove(ring.Find(Role::kWorker, 1)->life);
  EXPECT_TRUE(ring.Register(Worker(1), kT0).ok()) << "nothing has begun";
  ring.Remove(ring.Find(Role::kWorker, 1)->life);
  ring.Begin();
  ring.Remove(ring.Find(Role::kPs, 1)->life);
  for (const RegisterRequest& request : {Worker(1), copy}) {
    EXPECT_EQ(ring.Register(request, kT0).status(),
              absl::FailedPreconditionError(
                  "worker 1 was lost, and the job goes on without it: it can "
                  "join again at the next start of the job"));
  }
  EXPECT_EQ(ring.Register(Worker(0), kT0).status().code(),
            absl::StatusCode::kAlreadyExists);
}

TEST_F(MembershipTest, AWorkerHasANewPortForTheRing) {
  const Life life = members_.Register(Worker(0), kT0).value();
  members_.SetRingAddress(life, "h:9");
  EXPECT_EQ(members_.FindLife(life)->ring_address, "h:9");
  members_.SetRingAddress({7, 99}, "h:10");  // gone
}

}  // namespace
}  // namespace shoal
