// Two hosts with two workers each: what the workers of one host share.

#include <string>
#include <vector>

#include "tests/coordinator/coordinator_state_fixture.h"

namespace shoal {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

// Sessions 1 and 2 are the PSs; 3 and 4 are workers 0 and 1 on h1, 5 and 6 are
// workers 2 and 3 on h2. Each host has a file a and a file b of its own.
class CoordinatorStateHostsTest : public CoordinatorStateTest {
 protected:
  CoordinatorStateHostsTest() {
    options_.scopes.train_by_host = true;
    options_.num_workers = 4;
    host_of_worker_ = {{0, "h1"}, {1, "h1"}, {2, "h2"}, {3, "h2"}};
    Restart();
  }

  std::vector<SourceInfo> FilesOf(int worker) const {
    const uint32_t head = worker < 2 ? 1 : 3;
    return {{"a", 100, head}, {"b", 100, head + 1}};
  }
  void JoinHosts() {
    sessions_ = 0;
    for (int i = 0; i < 2; ++i) Join(Role::kPs, i);
    for (int i = 0; i < 4; ++i) {
      train_ = FilesOf(i);
      Join(Role::kWorker, i);
    }
  }
  // The job's log lines with `part` in them.
  std::vector<std::string> Lines(const std::string& part) const {
    std::vector<std::string> lines;
    for (const std::string& line : logs_) {
      if (line.find(part) != std::string::npos) lines.push_back(line);
    }
    return lines;
  }
};

TEST_F(CoordinatorStateHostsTest, EachFileIsLeasedToOneWorkerOfItsHost) {
  JoinHosts();
  const Lease of_first = Ask(3);
  const Lease of_second = Ask(4);
  EXPECT_EQ(of_first.piece.index, 0u);
  EXPECT_EQ(of_second.piece.index, 1u);
  EXPECT_EQ(of_first.piece.source, 0u);
  EXPECT_EQ(of_second.piece.source, 1u) << "the same list of two files";
  EXPECT_EQ(Ask(6).piece.index, 2u);
  EXPECT_EQ(Ask(5).piece.index, 3u);
  for (const uint64_t session : {3, 4, 5, 6}) {
    Tell(session, LeaseRequest{});
    EXPECT_THAT(Heard<LeaseGrant>(session), SizeIs(1)) << "all are leased";
  }
}

TEST_F(CoordinatorStateHostsTest, ADeadWorkersPiecesGoToTheOtherOfItsHost) {
  JoinHosts();
  const Lease lease = Ask(3);
  EXPECT_EQ(Ask(4).piece.index, 1u);
  EXPECT_EQ(Ask(5).piece.index, 2u);
  EXPECT_EQ(Ask(6).piece.index, 3u);
  Tell(4, LeaseRequest{});
  Tell(5, LeaseRequest{});
  Do(state_->OnSessionEnd(3, absl::OkStatus(), now_));
  EXPECT_THAT(Heard<LeaseGrant>(5), SizeIs(1)) << "it is on another host";
  ASSERT_THAT(Heard<LeaseGrant>(4), SizeIs(2));
  EXPECT_EQ(Heard<LeaseGrant>(4)[1].lease.piece.index, lease.piece.index);
  EXPECT_THAT(Lines("its work is given to other workers"), SizeIs(1));
  Do(state_->OnSessionEnd(4, absl::OkStatus(), now_));
  EXPECT_THAT(Lines("work on the files of host h1 waits"), SizeIs(1));
  // A worker of h1 may come back at once.
  train_ = FilesOf(1);
  const uint64_t back = Join(Role::kWorker, 1);
  EXPECT_EQ(Ask(back).piece.index, 0u);
}

TEST_F(CoordinatorStateHostsTest, WhatNoWorkerOfTheHostCanReadEndsTheJob) {
  JoinHosts();
  const Lease first = Ask(3);
  EXPECT_EQ(Ask(4).piece.index, 1u);
  Tell(4, LeaseRequest{});
  const absl::Status gone = absl::NotFoundError("no such file");
  Tell(3, LeaseFailed{first.number, gone});
  EXPECT_EQ(JobStatus(), absl::OkStatus()) << "worker 1 may have better luck";
  ASSERT_THAT(Heard<LeaseGrant>(4), SizeIs(2));
  Tell(4, LeaseFailed{Heard<LeaseGrant>(4)[1].lease.number, gone});
  EXPECT_THAT(Why(), AllOf(HasSubstr("worker 1 cannot read"),
                           HasSubstr("nor can any other worker on its host")));
}

TEST_F(CoordinatorStateHostsTest, AWorkerWithOtherFilesThanItsHostIsRefused) {
  train_ = FilesOf(0);
  Join(Role::kWorker, 0);
  train_[1].size = 99;
  const auto reply = state_->Register(Request(Role::kWorker, 1), now_);
  EXPECT_EQ(reply.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(reply.status().message()),
              AllOf(HasSubstr("training file 1 differs: worker 1 has b (99"),
                    HasSubstr("both are on host h1")));
}

TEST_F(CoordinatorStateHostsTest, SharedEvaluationFilesAreScoredOnce) {
  eval_ = {{"e", 100, 7}};
  JoinHosts();
  for (const uint64_t session : {3, 4, 5, 6}) Train(session, 10);
  // Any worker scores the one piece.
  const Lease lease = Ask(6);
  EXPECT_EQ(lease.purpose, LeasePurpose::kEvaluate);
  EXPECT_EQ(lease.piece.source, 0u);
  for (const uint64_t session : {3, 4, 5}) {
    const size_t before = Heard<LeaseGrant>(session).size();
    Tell(session, LeaseRequest{});
    EXPECT_THAT(Heard<LeaseGrant>(session), SizeIs(before));
  }
  EXPECT_THAT(Lines("evaluating on 1 piece"), SizeIs(1));
  EXPECT_THAT(Lines("another host"), IsEmpty());
}

TEST_F(CoordinatorStateHostsTest, CopiesOfAFileOnTwoHostsAreWarnedOfOnce) {
  options_.scopes.eval_by_host = true;
  Restart();
  eval_ = {{"e", 100, 7}, {"empty", 0, 0}};
  JoinHosts();
  const auto lines = Lines("1 of 4 evaluation files has");
  ASSERT_THAT(lines, SizeIs(1));
  EXPECT_THAT(lines[0], AllOf(HasSubstr("e, 100 bytes, on h1 and h2"),
                              HasSubstr("leave out --val_data_scope=host")));
  EXPECT_THAT(logs_, Not(Contains(HasSubstr("training files have"))));
}

}  // namespace
}  // namespace shoal
