#include "tests/conformance/cluster_service_conformance.h"

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "tests/conformance/completion.h"

namespace shoal {

using ::testing::HasSubstr;
using Code = absl::StatusCode;

std::string ClusterImplementationName(
    const testing::TestParamInfo<ClusterServiceImplementation>& info) {
  return info.param.name;
}

CoordinatorOptions ClusterServiceConformance::Options() {
  CoordinatorOptions options;
  options.job = "conformance";
  options.config = "batch_size=10\nseed=7";
  options.start = 3;
  options.batch_size = 10;
  options.piece_bytes = 0;
  options.silent_after = absl::Minutes(5);
  options.worker_lease = absl::Minutes(5);
  return options;
}

void ClusterServiceConformance::Start(CoordinatorOptions options) {
  harness_.reset();
  harness_ = GetParam().make(std::move(options));
  ASSERT_NE(harness_, nullptr);
}

RegisterRequest ClusterServiceConformance::Request(Role role, int index) {
  RegisterRequest request;
  request.job = "conformance";
  request.role = role;
  request.index = index;
  request.process = 100 * static_cast<uint64_t>(role) + index;
  request.attempt = 1;
  request.config = "batch_size=10\nseed=7";
  if (role == Role::kPs) request.address = "127.0.0.1:1";
  if (role == Role::kWorker) {
    request.train_sources = {{"a.libsvm", 1000, 7, true}};
  }
  return request;
}

absl::StatusOr<RegisterReply> ClusterServiceConformance::Register(
    RegisterRequest request, absl::Duration timeout) {
  return CallAndWait<RegisterReply>([&](Done<RegisterReply> done) {
    harness_->service().Register(std::move(request), timeout, std::move(done));
  });
}

absl::StatusOr<SavedCheckpoint> ClusterServiceConformance::Save(
    const std::string& job, absl::Duration timeout) {
  return CallAndWait<SavedCheckpoint>([&](Done<SavedCheckpoint> done) {
    harness_->service().SaveCheckpoint({job}, timeout, std::move(done));
  });
}

std::unique_ptr<ClusterServiceConformance::Connection>
ClusterServiceConformance::Open(const SessionOpening& opening) {
  auto connection = std::make_unique<Connection>();
  connection->life = opening.life;
  connection->listener.During([&] {
    connection->session = harness_->service().OpenSession(
        opening, connection->listener.Handler());
  });
  return connection;
}

std::unique_ptr<ClusterServiceConformance::Connection>
ClusterServiceConformance::Join(Role role) {
  const auto reply = Register(Request(role, 0));
  EXPECT_TRUE(reply.ok()) << reply.status();
  return Open({reply.ok() ? reply->life : Life{}});
}

// ---- Register ---------------------------------------------------------------

TEST_P(ClusterServiceConformance, RegisterGivesEachProcessALife) {
  const auto ps = Register(Request(Role::kPs, 0));
  ASSERT_TRUE(ps.ok()) << ps.status();
  EXPECT_EQ(ps->life.start, 3u);
  EXPECT_TRUE(ps->initialise);
  EXPECT_FALSE(ps->load.has_value());
  EXPECT_EQ(ps->heartbeat_interval, Options().heartbeat_interval);
  EXPECT_EQ(ps->silent_after, Options().silent_after);
  const auto worker = Register(Request(Role::kWorker, 0));
  ASSERT_TRUE(worker.ok()) << worker.status();
  EXPECT_GT(worker->life, ps->life);
}

TEST_P(ClusterServiceConformance, RegisterRefusesWhatDiffersAndNamesIt) {
  ASSERT_TRUE(Register(Request(Role::kWorker, 0)).ok());
  struct Case {
    void (*change)(RegisterRequest* request);
    const char* named;
  };
  const Case cases[] = {
      {[](RegisterRequest* r) { ++r->protocol_version; }, "protocol version"},
      {[](RegisterRequest* r) { r->job = "another"; }, "another"},
      {[](RegisterRequest* r) { r->config = "batch_size=10\nseed=8"; }, "seed"},
      {[](RegisterRequest* r) { r->train_sources[0].size = 999; }, "a.libsvm"},
      {[](RegisterRequest* r) { r->train_sources[0].compressed = false; },
       "a.libsvm"},
  };
  for (const Case& c : cases) {
    RegisterRequest request = Request(Role::kWorker, 1);
    c.change(&request);
    const absl::Status refused = Register(std::move(request)).status();
    EXPECT_EQ(refused.code(), Code::kFailedPrecondition) << refused;
    EXPECT_THAT(std::string(refused.message()), HasSubstr(c.named));
  }
  EXPECT_TRUE(Register(Request(Role::kWorker, 1)).ok());
}

TEST_P(ClusterServiceConformance, ALiveProcessKeepsItsPlace) {
  const auto worker = Join(Role::kWorker);
  worker->Send(Heartbeat{.number = 1});
  worker->Hear<HeartbeatAck>(0);
  RegisterRequest other = Request(Role::kWorker, 0);
  other.process = 999;
  EXPECT_EQ(Register(other).status().code(), Code::kAlreadyExists);
  other.index = 1;
  EXPECT_TRUE(Register(other).ok());
}

TEST_P(ClusterServiceConformance, ARequestThatIsTooLateLeavesNoLifeInTheWay) {
  EXPECT_EQ(
      Register(Request(Role::kWorker, 0), absl::ZeroDuration()).status().code(),
      Code::kDeadlineExceeded);
  RegisterRequest again = Request(Role::kWorker, 0);
  ++again.attempt;
  EXPECT_TRUE(Register(again).ok());
}

TEST_P(ClusterServiceConformance, ALifeThatWasNotTakenUpEndsWithTheNext) {
  const auto first = Register(Request(Role::kWorker, 0));
  RegisterRequest again = Request(Role::kWorker, 0);
  ++again.attempt;
  const auto second = Register(again);
  ASSERT_TRUE(first.ok() && second.ok()) << first.status() << second.status();
  const auto late = Open({first->life});
  EXPECT_EQ(late->listener.WaitForEnd().code(), Code::kFailedPrecondition);
  const auto worker = Open({second->life});
  worker->Send(Heartbeat{.number = 1});
  EXPECT_EQ(worker->Hear<HeartbeatAck>(0).number, 1u);
}

// ---- Sessions ---------------------------------------------------------------

TEST_P(ClusterServiceConformance, AnUnknownLifeGetsNoSession) {
  const auto unknown = Open({Life{3, 99}});
  EXPECT_EQ(unknown->listener.WaitForEnd().code(), Code::kFailedPrecondition);
  unknown->Send(LeaseRequest{});  // no process hears it
  EXPECT_TRUE(unknown->listener.heard().empty());
}

TEST_P(ClusterServiceConformance, MessagesAreTakenAndHeardInOrder) {
  const auto worker = Join(Role::kWorker);
  for (uint64_t i = 1; i <= 200; ++i) worker->Send(Heartbeat{.number = i});
  for (uint64_t i = 1; i <= 200; ++i) {
    const auto ack = worker->Hear<HeartbeatAck>(i - 1);
    ASSERT_EQ(ack.number, i);
    ASSERT_EQ(ack.taken, i);
  }
}

TEST_P(ClusterServiceConformance, AJobRunsFromRegistrationToBye) {
  const auto ps = Join(Role::kPs);
  const auto worker = Join(Role::kWorker);
  const auto view = worker->Hear<ClusterView>(0);
  ASSERT_EQ(view.ps.size(), 1u);
  EXPECT_EQ(view.ps[0].address, "127.0.0.1:1");
  EXPECT_EQ(view.ps[0].life, ps->life);
  EXPECT_EQ(ps->Hear<ClusterView>(0).map_version, view.map_version);

  worker->Send(LeaseRequest{});
  const Lease lease = worker->Hear<LeaseGrant>(1).lease;
  EXPECT_EQ(lease.purpose, LeasePurpose::kTrain);
  EXPECT_EQ(lease.piece.end, 1000u);
  EXPECT_EQ(lease.batch_size, 10u);
  worker->Send(PieceReport{.examples = 15, .batches = 2});
  worker->Send(LeaseDone{lease.number});
  ps->Send(MarkDelta{{{{0, 0, 0}, Verdict::kApplied, lease.number, false},
                      {{0, 0, 1}, Verdict::kRejected, lease.number, false}},
                     0});
  ps->Hear<ReportShard>(1);
  ps->Send(ShardReport{});
  const auto end = worker->Hear<JobEnd>(2);
  EXPECT_TRUE(end.status.ok()) << end.status;
  EXPECT_THAT(end.summary, HasSubstr("samples 15 = 10 trained + 5 rejected"));
  EXPECT_FALSE(worker->listener.ended());
  worker->Send(Bye{});
  ps->Send(Bye{});
  EXPECT_EQ(worker->listener.WaitForEnd(), absl::OkStatus());
  EXPECT_EQ(ps->listener.WaitForEnd(), absl::OkStatus());
  // What is sent to an end is lost, and ends nothing a second time.
  worker->Send(Heartbeat{});
}

TEST_P(ClusterServiceConformance, AFailureReachesAllWithItsCodeAndItsProcess) {
  const auto ps = Join(Role::kPs);
  const auto worker = Join(Role::kWorker);
  worker->Hear<ClusterView>(0);
  worker->Send(Failure{absl::DataLossError("a.libsvm changed")});
  for (Connection* process : {ps.get(), worker.get()}) {
    const auto end = process->Hear<JobEnd>(1);
    EXPECT_EQ(end.status.code(), Code::kDataLoss) << end.status;
    EXPECT_THAT(std::string(end.status.message()),
                HasSubstr("worker 0: a.libsvm changed"));
  }
}

TEST_P(ClusterServiceConformance, ABrokenConnectionIsResumedAndNothingIsLost) {
  const auto ps = Join(Role::kPs);
  const auto worker = Join(Role::kWorker);
  worker->Hear<ClusterView>(0);
  worker->Send(LeaseRequest{});
  const Lease lease = worker->Hear<LeaseGrant>(1).lease;
  worker->session.reset();
  // The view arrived, and the grant was lost on its way.
  const auto back = Open({worker->life, /*resume=*/true, /*taken=*/1});
  EXPECT_EQ(back->Hear<SessionResumed>(0).taken, 1u);
  EXPECT_EQ(back->Hear<LeaseGrant>(1).lease.number, lease.number);
  back->Send(Heartbeat{.number = 1, .taken = 2});
  EXPECT_EQ(back->Hear<HeartbeatAck>(2).taken, 2u);
}

TEST_P(ClusterServiceConformance, ANewConnectionTakesOverFromOneThatStands) {
  const auto ps = Join(Role::kPs);
  const auto worker = Join(Role::kWorker);
  worker->Hear<ClusterView>(0);
  const auto back = Open({worker->life, /*resume=*/true, /*taken=*/1});
  EXPECT_EQ(worker->listener.WaitForEnd().code(), Code::kAborted);
  EXPECT_EQ(back->Hear<SessionResumed>(0).taken, 0u);
  worker->session.reset();
  back->Send(LeaseRequest{});
  back->Hear<LeaseGrant>(1);
  EXPECT_FALSE(back->listener.ended());
}

TEST_P(ClusterServiceConformance, WhatWasAcknowledgedIsNotKept) {
  const auto ps = Join(Role::kPs);
  const auto worker = Join(Role::kWorker);
  worker->Hear<ClusterView>(0);
  worker->Send(Heartbeat{.number = 1, .taken = 1});
  worker->Hear<HeartbeatAck>(1);
  const auto back = Open({worker->life, /*resume=*/true, /*taken=*/0});
  EXPECT_EQ(back->listener.WaitForEnd().code(), Code::kOutOfRange);
}

TEST_P(ClusterServiceConformance, TheEndOfTheCoordinatorEndsTheConnection) {
  const auto worker = Join(Role::kWorker);
  worker->Send(Heartbeat{.number = 1});
  worker->Hear<HeartbeatAck>(0);
  harness_->StopCoordinator();
  EXPECT_EQ(worker->listener.WaitForEnd().code(), Code::kUnavailable);
  worker->Send(LeaseRequest{});
}

// ---- SaveCheckpoint ---------------------------------------------------------

TEST_P(ClusterServiceConformance, SaveCheckpointRefusesJobsThatCannot) {
  const absl::Status other = Save("another", absl::Seconds(30)).status();
  EXPECT_EQ(other.code(), Code::kFailedPrecondition) << other;
  EXPECT_THAT(std::string(other.message()), HasSubstr("'another'"));
  const absl::Status none = Save("conformance", absl::Seconds(30)).status();
  EXPECT_EQ(none.code(), Code::kFailedPrecondition) << none;
}

TEST_P(ClusterServiceConformance, SaveCheckpointEndsByItsTimeout) {
  CoordinatorOptions options = Options();
  options.checkpoints.save = true;
  Start(std::move(options));
  const auto ps = Join(Role::kPs);
  const auto worker = Join(Role::kWorker);
  worker->Hear<ClusterView>(0);
  worker->Send(LeaseRequest{});
  worker->Hear<LeaseGrant>(1);
  // The shard never says that it is held.
  EXPECT_EQ(Save("conformance", absl::Milliseconds(200)).status().code(),
            Code::kDeadlineExceeded);
  worker->Hear<Hold>(2);
}

}  // namespace shoal
