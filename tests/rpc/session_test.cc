// Registration and sessions over real sockets: what is said arrives, in order,
// and the end of either side is known to the other at once.
#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "proto/shoal.grpc.pb.h"
#include "rpc/cluster_client.h"
#include "tests/conformance/completion.h"
#include "tests/conformance/session_listener.h"
#include "tests/harness/fake_cluster.h"
#include "tests/harness/notification.h"
#include "tests/rpc/fake_coordinator.h"
#include "tests/rpc/loopback.h"

namespace shoal {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr Life kLife = {1, 7};
using Listener = SessionListener;
using View = FakeCoordinator::SessionView;

class SessionTest : public testing::Test {
 protected:
  void Start(RpcServerOptions options = {},
             ClusterClientOptions client_options = {}) {
    server_ = std::make_unique<LoopbackServer>(options, &coordinator_);
    client_options.channel = ChannelTo((*server_)->address(), options.token);
    client_ =
        std::make_unique<ClusterClient>(client_options, &process_.loop,
                                        &process_.executor, &probes_);
  }
  void SetUp() override { Start(); }

  std::unique_ptr<ClusterSession> Open() {
    auto session = client_->OpenSession({kLife}, listener_.Handler());
    EXPECT_TRUE(
        coordinator_.WaitFor(kLife, [](const View& v) { return v.open; }));
    return session;
  }

  RealClock clock_;
  ThreadExecutor coordinator_executor_{{.name = "coordinator"}, &clock_};
  FakeCoordinator coordinator_{&coordinator_executor_};
  std::unique_ptr<LoopbackServer> server_;
  Listener listener_;
  LoopbackProcess process_;
  ThreadExecutor probes_{{.name = "probes"}, &clock_};
  std::unique_ptr<ClusterClient> client_;
};

TEST_F(SessionTest, RegistrationGoesThroughAndItsErrorsToo) {
  RegisterRequest request;
  request.job = "job";
  const auto reply = CallAndWait<RegisterReply>([&](Done<RegisterReply> done) {
    client_->Register(request, absl::Seconds(20), std::move(done));
  });
  ASSERT_TRUE(reply.ok()) << reply.status();
  EXPECT_EQ(reply->life, kLife);
  EXPECT_TRUE(reply->initialise);
  EXPECT_EQ(reply->heartbeat_interval, absl::Seconds(1));
  EXPECT_EQ(reply->silent_after, absl::Seconds(5));

  request.job = "another";
  const auto refused =
      CallAndWait<RegisterReply>([&](Done<RegisterReply> done) {
        client_->Register(request, absl::Seconds(20), std::move(done));
      });
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(refused.status().message()),
              AllOf(HasSubstr("ps 0"), HasSubstr("this is job 'job'")));

  request.job = "job";
  request.protocol_version = kProtocolVersion + 1;
  EXPECT_EQ(CallAndWait<RegisterReply>([&](Done<RegisterReply> done) {
              client_->Register(request, absl::Seconds(20), std::move(done));
            })
                .status()
                .code(),
            absl::StatusCode::kFailedPrecondition);
}

// Answers a request for a checkpoint by how long it may take.
class TimedCluster final : public ForwardingCluster {
 public:
  using ForwardingCluster::ForwardingCluster;
  void SaveCheckpoint(SaveCheckpointRequest, absl::Duration timeout,
                      Done<SavedCheckpoint> done) override {
    const int64_t seconds = absl::ToInt64Seconds(timeout);
    std::move(done)(SavedCheckpoint{"", static_cast<uint64_t>(seconds)});
  }
};

TEST_F(SessionTest, ACallMayTakeAsLongAsItsClientSays) {
  TimedCluster cluster(&coordinator_);
  RpcServerOptions options;
  options.max_call_time = absl::Seconds(1);  // of a client that does not say
  LoopbackServer server(options, &cluster);
  ClusterClientOptions to;
  to.channel = ChannelTo(server->address(), options.token);
  ClusterClient client(to, &process_.loop, &process_.executor, &probes_);
  const auto saved = CallAndWait<SavedCheckpoint>([&](auto done) {
    client.SaveCheckpoint({}, absl::Minutes(5), std::move(done));
  });
  ASSERT_TRUE(saved.ok()) << saved.status();
  EXPECT_GT(saved->step, 240u);
}

TEST_F(SessionTest, AClientThatNeverSaysWhoItIsLosesItsPlace) {
  RpcServerOptions options;
  options.session_open_deadline = absl::Milliseconds(200);
  options.max_sessions = 1;
  Start(options);
  const auto stub = v1::Cluster::NewStub(grpc::CreateChannel(
      (*server_)->address(), grpc::InsecureChannelCredentials()));
  grpc::ClientContext context;
  const auto silent = stub->Session(&context);
  v1::CoordinatorMessage message;
  EXPECT_FALSE(silent->Read(&message));
  const grpc::Status status = silent->Finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  EXPECT_THAT(status.error_message(), HasSubstr("within 200ms"));
  Open();
}

TEST_F(SessionTest, MessagesArriveInOrderBothWays) {
  const auto session = Open();
  for (uint64_t i = 0; i < 200; ++i) session->Send(LeaseDone{i});
  for (uint32_t i = 0; i < 200; ++i) {
    coordinator_.Say(kLife, ClusterView{i, {{"127.0.0.1:1", {1, 1}}}});
  }
  ASSERT_TRUE(coordinator_.WaitFor(
      kLife, [](const View& v) { return v.heard.size() == 200; }));
  ASSERT_TRUE(listener_.WaitForMessages(200));
  const auto heard_there = coordinator_.Heard(kLife);
  const auto heard_here = listener_.heard();
  for (uint32_t i = 0; i < 200; ++i) {
    EXPECT_EQ(std::get<LeaseDone>(heard_there[i]).lease, i);
    EXPECT_EQ(std::get<ClusterView>(heard_here[i]).map_version, i);
  }
}

TEST_F(SessionTest, AConnectionSaysWhatItResumes) {
  SessionOpening opening;
  opening.life = kLife;
  opening.resume = true;
  opening.taken = 12;
  opening.marks = {7, 1, 99};
  const auto session = client_->OpenSession(opening, listener_.Handler());
  ASSERT_TRUE(
      coordinator_.WaitFor(kLife, [](const View& v) { return v.open; }));
  const SessionOpening heard = coordinator_.Opening(kLife);
  EXPECT_TRUE(heard.resume);
  EXPECT_EQ(heard.taken, 12u);
  EXPECT_EQ(heard.marks, (MarkTotals{7, 1, 99}));
  coordinator_.Say(kLife, SessionResumed{34});
  ASSERT_TRUE(listener_.WaitForMessages(1));
  EXPECT_EQ(std::get<SessionResumed>(listener_.heard()[0]).taken, 34u);
}

TEST_F(SessionTest, AnEndByProtocolIsOk) {
  const auto session = Open();
  coordinator_.Say(kLife, JobEnd{absl::OkStatus(), "all samples trained"});
  ASSERT_TRUE(listener_.WaitForMessages(1));
  session->Send(Bye{});
  ASSERT_TRUE(coordinator_.WaitFor(
      kLife, [](const View& v) { return v.heard.size() == 1; }));
  // The last word before the end is not lost.
  coordinator_.Say(kLife, HeartbeatAck{});
  coordinator_.End(kLife, absl::OkStatus());
  EXPECT_TRUE(listener_.WaitForEnd().ok());
  EXPECT_EQ(listener_.heard().size(), 2);
  EXPECT_TRUE(
      coordinator_.WaitFor(kLife, [](const View& v) { return v.closed; }));
}

TEST_F(SessionTest, AnEndByTheCoordinatorSaysWhy) {
  const auto session = Open();
  coordinator_.End(kLife, absl::FailedPreconditionError("you are silent"));
  const absl::Status end = listener_.WaitForEnd();
  EXPECT_EQ(end.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(end.message()),
              AllOf(HasSubstr("ps 0"), HasSubstr("you are silent")));
}

TEST_F(SessionTest, ClosingTheSessionIsSeenByTheCoordinator) {
  auto session = Open();
  session.reset();
  EXPECT_TRUE(
      coordinator_.WaitFor(kLife, [](const View& v) { return v.closed; }));
  EXPECT_EQ(listener_.WaitForEnd().code(), absl::StatusCode::kCancelled);
}

TEST_F(SessionTest, TheEndOfTheClientIsSeenByTheCoordinator) {
  const auto session = Open();
  client_.reset();
  EXPECT_TRUE(
      coordinator_.WaitFor(kLife, [](const View& v) { return v.closed; }));
  EXPECT_FALSE(listener_.WaitForEnd().ok());
  session->Send(LeaseRequest{});  // no process hears it
}

TEST_F(SessionTest, TheEndOfTheServerIsSeenByTheProcess) {
  const auto session = Open();
  server_->Stop();
  EXPECT_FALSE(listener_.WaitForEnd().ok());
  EXPECT_TRUE(
      coordinator_.WaitFor(kLife, [](const View& v) { return v.closed; }));
}

TEST_F(SessionTest, TheClientMayEndInsideACallbackOfTheSession) {
  Notification gone;
  Listener quiet;
  SessionHandler handler = quiet.Handler();
  handler.on_message = [&](CoordinatorMessage) {
    client_.reset();
    gone.Notify();
  };
  const auto session = client_->OpenSession({kLife}, std::move(handler));
  ASSERT_TRUE(
      coordinator_.WaitFor(kLife, [](const View& v) { return v.open; }));
  coordinator_.Say(kLife, HeartbeatAck{});
  EXPECT_TRUE(gone.Wait());
  EXPECT_FALSE(quiet.WaitForEnd().ok());
}

TEST_F(SessionTest, LargeMessagesGoThrough) {
  const auto session = Open();
  EvalResult result;
  result.logits.assign(1'000'000, 0.5f);
  result.labels.assign(1'000'000, 1);
  session->Send(result);
  MarkDelta marks;
  marks.repeats_refused = 4;
  for (uint32_t i = 0; i < kMarksPerDelta; ++i) {
    marks.marks.push_back(
        {{0, i >> 10, i & 1023}, Verdict::kApplied, i, false});
  }
  session->Send(marks);
  const auto count = [](const View& v) {
    size_t n = 0;
    for (const ProcessMessage& m : v.heard) {
      if (const auto* delta = std::get_if<MarkDelta>(&m)) {
        n += delta->marks.size();
      }
    }
    return n;
  };
  ASSERT_TRUE(coordinator_.WaitFor(
      kLife, [&](const View& v) { return count(v) == kMarksPerDelta; }));
  const auto heard = coordinator_.Heard(kLife);
  EXPECT_EQ(std::get<EvalResult>(heard[0]).logits.size(), 1'000'000);
  uint32_t next = 0;
  for (size_t i = 1; i < heard.size(); ++i) {
    const MarkDelta& delta = std::get<MarkDelta>(heard[i]);
    EXPECT_EQ(delta.repeats_refused, 4);
    for (const Mark& mark : delta.marks) ASSERT_EQ(mark.lease, next++);
  }
}

TEST_F(SessionTest, AMessageBeyondTheServersLimitEndsTheSession) {
  RpcServerOptions options;
  options.max_message_bytes = 1 << 20;
  Start(options);
  const auto session = Open();
  EvalResult result;
  result.logits.assign(1'000'000, 0.5f);
  result.labels.assign(1'000'000, 1);
  session->Send(std::move(result));
  const absl::Status end = listener_.WaitForEnd();
  EXPECT_FALSE(end.ok());
  EXPECT_TRUE(
      coordinator_.WaitFor(kLife, [](const View& v) { return v.closed; }));
}

TEST_F(SessionTest, AQueueBeyondItsBoundEndsTheSession) {
  ClusterClientOptions client_options;
  client_options.max_queued_bytes = 1 << 20;
  Start({}, client_options);
  const auto session = Open();
  coordinator_.StopHearing();
  EvalResult result;
  result.logits.assign(100'000, 0.5f);
  result.labels.assign(100'000, 1);
  for (int i = 0; i < 100; ++i) session->Send(result);
  EXPECT_EQ(listener_.WaitForEnd().code(),
            absl::StatusCode::kResourceExhausted);
  coordinator_.GoOnHearing();
}

TEST_F(SessionTest, WithoutTheTokenThereIsNoSession) {
  RpcServerOptions options;
  options.token = "the-right-token";
  Start(options);
  ClusterClientOptions bad;
  bad.channel = ChannelTo((*server_)->address(), "a-wrong-token");
  ClusterClient client(bad, &process_.loop, &process_.executor, &probes_);
  const auto session = client.OpenSession({kLife}, listener_.Handler());
  EXPECT_EQ(listener_.WaitForEnd().code(), absl::StatusCode::kUnauthenticated);
}

TEST_F(SessionTest, AnUnreachableCoordinatorEndsTheSession) {
  const std::string address = (*server_)->address();
  server_->Stop();
  const auto session = client_->OpenSession({kLife}, listener_.Handler());
  EXPECT_EQ(listener_.WaitForEnd().code(), absl::StatusCode::kUnavailable);
}

TEST_F(SessionTest, ACoordinatorThatIsGoneIsToldFromAConnectionThatBroke) {
  server_->Stop();
  SessionOpening opening{kLife};
  opening.resume = true;
  const auto session = client_->OpenSession(opening, listener_.Handler());
  const absl::Status end = listener_.WaitForEnd();
  EXPECT_EQ(end.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(end.message()),
              AllOf(HasSubstr("ps 0"), HasSubstr("no process listens there")));
}

// A name may take its resolver half a minute.
TEST_F(SessionTest, AProbeThatHangsKeepsTheProcessesExecutorFree) {
  Notification probing;
  Notification go_on;
  probes_.Post([&] {
    probing.Notify();
    go_on.Wait();
  });
  ASSERT_TRUE(probing.Wait());
  server_->Stop();
  SessionOpening opening{kLife};
  opening.resume = true;
  const auto resumed = client_->OpenSession(opening, listener_.Handler());
  // The end of a connection that does not wait for a probe.
  Listener other;
  const auto fresh = client_->OpenSession({kLife}, other.Handler());
  EXPECT_EQ(other.WaitForEnd().code(), absl::StatusCode::kUnavailable);
  EXPECT_FALSE(listener_.ended());
  go_on.Notify();
  EXPECT_EQ(listener_.WaitForEnd().code(), absl::StatusCode::kNotFound);
}

// ---- A foreign client on the session ----------------------------------------

class ForeignSessionTest : public SessionTest {
 protected:
  // Says `messages` on a stream and returns how the server ended it.
  grpc::Status Say(const std::vector<v1::ProcessMessage>& messages) {
    grpc::ChannelArguments args;
    args.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
    const auto stub = v1::Cluster::NewStub(grpc::CreateCustomChannel(
        (*server_)->address(), grpc::InsecureChannelCredentials(), args));
    grpc::ClientContext context;
    const auto stream = stub->Session(&context);
    for (const v1::ProcessMessage& message : messages) {
      stream->Write(message);
    }
    v1::CoordinatorMessage heard;
    while (stream->Read(&heard)) {
    }
    return stream->Finish();
  }
};

TEST_F(ForeignSessionTest, TheFirstMessageMustOpenIt) {
  v1::ProcessMessage message;
  EXPECT_EQ(Say({message}).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  message.mutable_lease_request();
  EXPECT_EQ(Say({message}).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  message.mutable_open();
  EXPECT_EQ(Say({message}).error_code(), grpc::StatusCode::INVALID_ARGUMENT)
      << "no life";
}

TEST_F(ForeignSessionTest, AMessageThatIsNoneEndsItAndIsSeen) {
  v1::ProcessMessage open;
  open.mutable_open()->mutable_life()->set_start(kLife.start);
  open.mutable_open()->mutable_life()->set_n(kLife.n);
  EXPECT_EQ(Say({open, open}).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_TRUE(
      coordinator_.WaitFor(kLife, [](const View& v) { return v.closed; }));
}

}  // namespace
}  // namespace shoal
