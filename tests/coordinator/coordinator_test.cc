#include "coordinator/coordinator.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "tests/harness/simulated_executor.h"

namespace shoal {
namespace {

// A process that the test drives: what it was told, in order.
struct Process {
  Life life;
  std::vector<CoordinatorMessage> heard;
  std::optional<absl::Status> end;
  int ends = 0;
  std::unique_ptr<ClusterSession> session;

  template <typename T>
  const T* Newest() const {
    const T* newest = nullptr;
    for (const CoordinatorMessage& message : heard) {
      if (const T* m = std::get_if<T>(&message)) newest = m;
    }
    return newest;
  }
};

class CoordinatorTest : public testing::Test {
 protected:
  CoordinatorTest() : strand_(&simulator_) {
    options_.job = "j";
    options_.batch_size = 10;
    options_.piece_bytes = 0;
    coordinator_ = Coordinator::Create(options_, &strand_);
  }
  ~CoordinatorTest() override {
    coordinator_.reset();
    processes_.clear();
    simulator_.RunFor(absl::Seconds(1));
  }

  RegisterRequest Request(Role role, int index) const {
    RegisterRequest request;
    request.job = "j";
    request.role = role;
    request.index = index;
    request.attempt = static_cast<uint64_t>(absl::ToUnixMicros(strand_.Now()));
    if (role == Role::kPs) request.address = "host:1";
    if (role == Role::kWorker) request.train_sources = {{"a", 1000, 7}};
    return request;
  }

  absl::StatusOr<RegisterReply> Register(const RegisterRequest& request) {
    std::optional<absl::StatusOr<RegisterReply>> reply;
    coordinator_->Register(request, absl::Seconds(1),
                           [&reply](absl::StatusOr<RegisterReply> r) {
                             EXPECT_FALSE(reply.has_value());
                             reply = std::move(r);
                           });
    EXPECT_FALSE(reply.has_value()) << "answered inside the call";
    simulator_.RunFor(absl::ZeroDuration());
    return reply.value_or(absl::UnknownError("no answer"));
  }

  Process* Open(Life life) { return Open(SessionOpening{life}); }
  // The same process over another connection.
  Process* Resume(const Process* process, uint64_t taken = 0) {
    return Open(SessionOpening{process->life, /*resume=*/true, taken});
  }
  Process* Open(SessionOpening opening) {
    processes_.push_back(std::make_unique<Process>());
    Process* process = processes_.back().get();
    process->life = opening.life;
    SessionHandler handler;
    handler.on_message = [process](CoordinatorMessage message) {
      EXPECT_EQ(process->ends, 0) << "a message after the end";
      process->heard.push_back(std::move(message));
    };
    handler.on_end = [process](absl::Status status) {
      ++process->ends;
      process->end = std::move(status);
    };
    process->session = coordinator_->OpenSession(opening, std::move(handler));
    EXPECT_EQ(process->ends, 0) << "ended inside the call";
    simulator_.RunFor(absl::ZeroDuration());
    return process;
  }

  Process* Join(Role role, int index) {
    const auto reply = Register(Request(role, index));
    EXPECT_TRUE(reply.ok()) << reply.status();
    return Open(reply.ok() ? reply->life : Life{});
  }

  void Settle() { simulator_.RunFor(absl::ZeroDuration()); }

  CoordinatorOptions options_;
  Simulator simulator_;
  SimulatedExecutor strand_;
  std::unique_ptr<Coordinator> coordinator_;
  std::vector<std::unique_ptr<Process>> processes_;
};

TEST_F(CoordinatorTest, HeartbeatsDoNotWaitForSlowWork) {
  for (const bool stuck : {false, true}) {
    SimulatedExecutor work(&simulator_);
    if (stuck) work.Kill();
    std::vector<float> written;
    bool whole = false;
    options_.task = JobTask::kInfer;
    coordinator_ = Coordinator::Create(
        options_, &strand_, nullptr,
        {&work, [&](absl::Span<const float> logits, bool last) {
           written.insert(written.end(), logits.begin(), logits.end());
           whole = last;
           return absl::OkStatus();
         }});
    Process* ps = Join(Role::kPs, 0);
    RegisterRequest request = Request(Role::kWorker, 0);
    request.eval_sources = {{"e", 100, 1}};
    Process* worker = Open(Register(request)->life);
    worker->session->Send(LeaseRequest{});
    Settle();
    ASSERT_NE(worker->Newest<LeaseGrant>(), nullptr);
    const Lease lease = worker->Newest<LeaseGrant>()->lease;
    EXPECT_EQ(lease.purpose, LeasePurpose::kInfer);
    worker->session->Send(EvalResult{lease.number, 0, 0, {1, 2}, {0, 1}});
    worker->session->Send(Heartbeat{});
    Settle();
    EXPECT_NE(worker->Newest<HeartbeatAck>(), nullptr);
    EXPECT_EQ(whole, !stuck);
    EXPECT_EQ(written.size(), stuck ? 0u : 2u);
    EXPECT_EQ(ps->Newest<ReportShard>() != nullptr, !stuck);
    coordinator_.reset();
    Settle();
  }
}

// The strand was busy, or the process frozen.
TEST_F(CoordinatorTest, ARegisterThatIsReadTooLateLeavesNoLife) {
  std::optional<absl::StatusOr<RegisterReply>> late;
  coordinator_->Register(
      Request(Role::kWorker, 0), absl::ZeroDuration(),
      [&late](absl::StatusOr<RegisterReply> r) { late = std::move(r); });
  Settle();
  ASSERT_TRUE(late.has_value());
  EXPECT_EQ(late->status().code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_TRUE(Register(Request(Role::kWorker, 0)).ok());
}

TEST_F(CoordinatorTest, AJobRunsFromRegistrationToBye) {
  std::optional<JobReport> finished;
  coordinator_->OnFinished([&](const JobReport& r) { finished = r; });
  Process* ps = Join(Role::kPs, 0);
  Process* worker = Join(Role::kWorker, 0);
  ASSERT_NE(worker->Newest<ClusterView>(), nullptr);
  EXPECT_EQ(worker->Newest<ClusterView>()->ps[0].address, "host:1");

  worker->session->Send(LeaseRequest{});
  Settle();
  ASSERT_NE(worker->Newest<LeaseGrant>(), nullptr);
  const Lease lease = worker->Newest<LeaseGrant>()->lease;
  worker->session->Send(PieceReport{.examples = 15, .batches = 2});
  worker->session->Send(LeaseDone{lease.number});
  ps->session->Send(
      MarkDelta{{{{0, 0, 0}, Verdict::kApplied, lease.number, false},
                 {{0, 0, 1}, Verdict::kApplied, lease.number, false}},
                0});
  Settle();
  EXPECT_EQ(coordinator_->Report().trained, 15u);
  ASSERT_NE(ps->Newest<ReportShard>(), nullptr);
  ps->session->Send(ShardReport{});
  Settle();
  ASSERT_NE(worker->Newest<JobEnd>(), nullptr);
  EXPECT_TRUE(worker->Newest<JobEnd>()->status.ok());
  EXPECT_TRUE(absl::StartsWith(worker->Newest<JobEnd>()->summary,
                               "samples 15 = 15 trained + 0 rejected"))
      << worker->Newest<JobEnd>()->summary;
  EXPECT_FALSE(finished.has_value());
  worker->session->Send(Bye{});
  ps->session->Send(Bye{});
  Settle();
  ASSERT_TRUE(finished.has_value());
  EXPECT_TRUE(finished->finished);
  EXPECT_TRUE(finished->status.ok()) << finished->status;
  EXPECT_EQ(worker->end, absl::OkStatus());
  EXPECT_EQ(ps->end, absl::OkStatus());
}

TEST_F(CoordinatorTest, ADestroyedConnectionFreesItsPlaceForASuccessor) {
  Join(Role::kPs, 0);
  Process* worker = Join(Role::kWorker, 0);
  EXPECT_TRUE(absl::IsAlreadyExists(
      Register(Request(Role::kWorker, 0)).status()));
  worker->session.reset();
  Settle();
  EXPECT_EQ(worker->ends, 1);
  simulator_.RunFor(absl::Milliseconds(1));
  const auto successor = Register(Request(Role::kWorker, 0));
  ASSERT_TRUE(successor.ok()) << successor.status();
  // The old life is over.
  Process* late = Resume(worker);
  ASSERT_TRUE(late->end.has_value());
  EXPECT_TRUE(absl::IsFailedPrecondition(*late->end)) << *late->end;
}

TEST_F(CoordinatorTest, ABrokenConnectionIsResumedAndNothingIsLost) {
  Process* ps = Join(Role::kPs, 0);
  Process* worker = Join(Role::kWorker, 0);
  worker->session->Send(LeaseRequest{});
  Settle();
  const size_t heard = worker->heard.size();
  // The view arrived; the grant was lost on its way, and so was the report.
  ASSERT_GE(heard, 2u);
  ASSERT_NE(worker->Newest<LeaseGrant>(), nullptr);
  const Lease lease = worker->Newest<LeaseGrant>()->lease;
  worker->session.reset();
  ps->session.reset();
  Settle();
  Process* back = Resume(worker, /*taken=*/1);
  ASSERT_EQ(back->heard.size(), heard)
      << "SessionResumed, and all but the view";
  ASSERT_NE(std::get_if<SessionResumed>(&back->heard[0]), nullptr);
  EXPECT_EQ(std::get<SessionResumed>(back->heard[0]).taken, 1u);
  ASSERT_NE(back->Newest<LeaseGrant>(), nullptr);
  EXPECT_EQ(back->Newest<LeaseGrant>()->lease.number, lease.number);

  Process* ps_back = Resume(ps, ps->heard.size());
  back->session->Send(PieceReport{.examples = 15, .batches = 2});
  ps_back->session->Send(
      MarkDelta{{{{0, 0, 0}, Verdict::kApplied, lease.number, false},
                 {{0, 0, 1}, Verdict::kApplied, lease.number, false}},
                0});
  Settle();
  EXPECT_EQ(coordinator_->Report().trained, 15u);
  EXPECT_TRUE(coordinator_->Report().status.ok());
}

TEST_F(CoordinatorTest, WhatIsSaidMeanwhileIsHeardAfterwards) {
  Process* ps = Join(Role::kPs, 0);
  ps->session.reset();
  Settle();
  coordinator_->Stop(absl::CancelledError("interrupted"));
  Settle();
  EXPECT_EQ(ps->Newest<JobEnd>(), nullptr);
  Process* back = Resume(ps, ps->heard.size());
  ASSERT_NE(back->Newest<JobEnd>(), nullptr);
  EXPECT_EQ(back->Newest<JobEnd>()->status,
            absl::CancelledError("interrupted"));
}

// The process has seen a reset that the coordinator has not.
TEST_F(CoordinatorTest, ANewConnectionTakesOverFromOneThatStillStands) {
  Join(Role::kPs, 0);
  Process* worker = Join(Role::kWorker, 0);
  Process* back = Resume(worker, worker->heard.size());
  ASSERT_TRUE(worker->end.has_value());
  EXPECT_TRUE(absl::IsAborted(*worker->end));
  worker->session->Send(LeaseRequest{});  // late: sent again over the other
  worker->session.reset();
  back->session->Send(LeaseRequest{});
  Settle();
  EXPECT_EQ(back->ends, 0);
  EXPECT_NE(back->Newest<LeaseGrant>(), nullptr);
}

TEST_F(CoordinatorTest, APortThatRefusesIsADeathAtOnce) {
  std::vector<std::string> asked;
  bool refused = false;
  CoordinatorWork work;
  work.probe = [&](std::string address,
                   absl::AnyInvocable<void(bool) &&> done) {
    asked.push_back(std::move(address));
    std::move(done)(refused);
  };
  coordinator_ =
      Coordinator::Create(options_, &strand_, nullptr, std::move(work));
  Process* ps = Join(Role::kPs, 0);
  Join(Role::kWorker, 0);  // and training begins
  ps->session.reset();
  Settle();
  ASSERT_FALSE(asked.empty());
  EXPECT_EQ(asked[0], "host:1");
  EXPECT_TRUE(coordinator_->Report().status.ok()) << "a process listens there";
  refused = true;
  simulator_.RunFor(absl::Milliseconds(600));
  const absl::Status status = coordinator_->Report().status;
  EXPECT_TRUE(absl::StrContains(status.message(), "ps 0 (host:1) died"))
      << status;
}

TEST_F(CoordinatorTest, WhoDoesNotComeBackIsDeadAfterSilentAfter) {
  Process* ps = Join(Role::kPs, 0);
  Join(Role::kWorker, 0);  // and training begins
  simulator_.RunFor(absl::Seconds(3));
  ps->session.reset();
  simulator_.RunFor(options_.silent_after - absl::Milliseconds(500));
  EXPECT_TRUE(coordinator_->Report().status.ok());
  simulator_.RunFor(absl::Seconds(1));
  const absl::Status status = coordinator_->Report().status;
  EXPECT_TRUE(absl::StrContains(status.message(), "ps 0 (host:1) died"))
      << status;
}

TEST_F(CoordinatorTest, AnUnknownLifeGetsNoSession) {
  Process* process = Open(Life{1, 99});
  ASSERT_TRUE(process->end.has_value());
  EXPECT_EQ(process->end->code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(CoordinatorTest, AFloodOfMessagesEndsItsSessionAlone) {
  Process* worker = Join(Role::kWorker, 0);
  for (int i = 0; i <= Coordinator::kMaxQueuedMessages; ++i) {
    worker->session->Send(Heartbeat{});
  }
  Settle();
  ASSERT_TRUE(worker->end.has_value());
  EXPECT_EQ(worker->end->code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(Register(Request(Role::kWorker, 0)).ok());
}

TEST_F(CoordinatorTest, AFloodOfBytesEndsItsSessionAlone) {
  Process* worker = Join(Role::kWorker, 0);
  EvalResult large;
  large.logits.resize(Coordinator::kMaxQueuedBytes / sizeof(float));
  // A single one is taken, however large it is.
  worker->session->Send(large);
  Settle();
  EXPECT_FALSE(worker->end.has_value());
  worker->session->Send(std::move(large));
  worker->session->Send(Heartbeat{});
  Settle();
  ASSERT_TRUE(worker->end.has_value());
  EXPECT_EQ(worker->end->code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(Register(Request(Role::kWorker, 0)).ok());
}

TEST_F(CoordinatorTest, ADestroyedCoordinatorEndsItsSessions) {
  Process* worker = Join(Role::kWorker, 0);
  coordinator_.reset();
  Settle();
  ASSERT_TRUE(worker->end.has_value());
  EXPECT_EQ(worker->end->code(), absl::StatusCode::kUnavailable);
  worker->session->Send(Heartbeat{});
  Settle();
  EXPECT_EQ(worker->ends, 1);
  coordinator_ = Coordinator::Create(options_, &strand_);
}

TEST_F(CoordinatorTest, StopEndsTheJobAndFinishesAfterLinger) {
  std::optional<JobReport> finished;
  Process* worker = Join(Role::kWorker, 0);
  coordinator_->Stop(absl::CancelledError("interrupted"));
  Settle();
  ASSERT_NE(worker->Newest<JobEnd>(), nullptr);
  EXPECT_EQ(worker->Newest<JobEnd>()->status,
            absl::CancelledError("interrupted"));
  const auto late = Register(Request(Role::kWorker, 1));
  EXPECT_EQ(late.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(absl::StrContains(late.status().message(), "job is over"));
  simulator_.RunFor(absl::Seconds(3));
  coordinator_->OnFinished([&](const JobReport& r) { finished = r; });
  Settle();
  ASSERT_TRUE(finished.has_value());
  EXPECT_EQ(finished->status, absl::CancelledError("interrupted"));
  ASSERT_TRUE(worker->end.has_value());
  EXPECT_FALSE(worker->end->ok());
}

}  // namespace
}  // namespace shoal
