// What the server does with callers that are wrong, foreign or too many.
#include "rpc/server.h"

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "grpcpp/generic/generic_stub.h"
#include "proto/shoal.grpc.pb.h"
#include "rpc/address.h"
#include "tests/conformance/completion.h"
#include "tests/harness/notification.h"
#include "tests/rpc/loopback.h"
#include "tests/wire/codec_test_util.h"

namespace shoal {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr absl::Duration kTimeout = absl::Seconds(20);

absl::Status Ping(ParameterService& service) {
  return CallAndWait<PullReply>([&](Done<PullReply> done) {
           PullRequest pull;
           pull.identity = OneShardIdentity();
           service.Pull(pull, kTimeout, std::move(done));
         })
      .status();
}

// ---- A plain protobuf client ------------------------------------------------

std::shared_ptr<grpc::Channel> PlainChannel(const std::string& address) {
  grpc::ChannelArguments args;
  args.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  args.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(),
                                   args);
}

void SetIdentity(v1::Identity* identity) {
  identity->set_job("job");
  identity->mutable_worker()->set_start(1);
  identity->mutable_worker()->set_n(2);
  identity->mutable_shard()->set_start(1);
  identity->mutable_shard()->set_n(1);
  identity->set_map_version(1);
}

TEST(PlainProtobufClientTest, PushesAndPullsByTheGeneratedStub) {
  LoopbackServer server;
  server.AttachShard(OneShard());
  const auto stub =
      v1::ParameterServer::NewStub(PlainChannel(server->address()));

  const std::vector<FeatureId> ids = {7, 999'999};
  v1::PushRequest push;
  SetIdentity(push.mutable_identity());
  push.mutable_batch()->set_piece(3);
  push.set_lease(1);
  push.mutable_pulled()->mutable_life()->CopyFrom(push.identity().shard());
  push.add_tables()->set_ids(Bytes(ids));
  push.mutable_tables(0)->set_gradients(
      Bytes(std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8}));
  push.add_blocks()->set_gradients(Bytes(std::vector<float>(16, 0.5f)));
  for (const bool repeat : {false, true}) {
    grpc::ClientContext context;
    v1::PushReply reply;
    const grpc::Status status = stub->Push(&context, push, &reply);
    ASSERT_TRUE(status.ok()) << status.error_message();
    EXPECT_EQ(reply.verdict(), v1::VERDICT_APPLIED);
    EXPECT_EQ(reply.repeat(), repeat);
    EXPECT_EQ(reply.version().count(), 1);
    EXPECT_EQ(reply.identity().worker().n(), 2);
  }

  v1::PullRequest pull;
  SetIdentity(pull.mutable_identity());
  pull.add_tables()->set_ids(Bytes(ids));
  pull.mutable_tables(0)->set_row_dim(4);
  pull.add_blocks()->set_size(16);
  v1::PullReply reply;
  {
    grpc::ClientContext context;
    const grpc::Status status = stub->Pull(&context, pull, &reply);
    ASSERT_TRUE(status.ok()) << status.error_message();
  }
  EXPECT_THAT(Numbers<float>(reply.tables(0).values()),
              testing::ElementsAre(-1, -2, -3, -4, -5, -6, -7, -8));
  EXPECT_THAT(Numbers<float>(reply.blocks(0).values()), testing::Each(-0.5f));

  {
    grpc::ClientContext context;
    v1::StatsRequest request;
    SetIdentity(request.mutable_identity());
    v1::StatsReply stats;
    ASSERT_TRUE(stub->Stats(&context, request, &stats).ok());
    EXPECT_EQ(stats.pushes_applied(), 1);
    EXPECT_EQ(stats.repeats_refused(), 1);
  }

  pull.mutable_tables(0)->set_row_dim(5);
  grpc::ClientContext context;
  EXPECT_EQ(stub->Pull(&context, pull, &reply).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
}

TEST(PlainProtobufClientTest, AListOfBatchesIsOnePushOrRefusedWhole) {
  LoopbackServer server;
  server.AttachShard(OneShard());
  const auto stub =
      v1::ParameterServer::NewStub(PlainChannel(server->address()));
  v1::PushRequest push;
  SetIdentity(push.mutable_identity());
  push.add_blocks()->set_gradients(Bytes(std::vector<float>(16, 0.5f)));
  v1::PushReply reply;
  const auto code = [&](const v1::PushRequest& request) {
    grpc::ClientContext context;
    return stub->Push(&context, request, &reply).error_code();
  };
  v1::PushRequest twice = push;
  twice.add_more_batches();  // batch (0,0,0), as the first
  EXPECT_EQ(code(twice), grpc::StatusCode::INVALID_ARGUMENT);
  v1::PushRequest many = push;
  for (uint32_t i = 1; i <= 4096; ++i) {
    many.add_more_batches()->mutable_id()->set_index(i);
  }
  EXPECT_EQ(code(many), grpc::StatusCode::INVALID_ARGUMENT);
  many.mutable_more_batches()->RemoveLast();
  ASSERT_EQ(code(many), grpc::StatusCode::OK);
  EXPECT_FALSE(reply.repeat());
  EXPECT_EQ(reply.version().count(), 1);
  ASSERT_EQ(code(push), grpc::StatusCode::OK);
  EXPECT_TRUE(reply.repeat()) << "the first batch of the list";
  EXPECT_EQ(code(many), grpc::StatusCode::OK);
  EXPECT_TRUE(reply.repeat());
}

// ---- Garbage ----------------------------------------------------------------

int Connect(const std::string& address) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in to = {};
  to.sin_family = AF_INET;
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  to.sin_port = htons(static_cast<uint16_t>(ParseAddress(address)->port));
  EXPECT_EQ(connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof(to)), 0);
  return fd;
}

TEST(GarbageTest, BytesThatAreNoHttp2DoNoHarm) {
  LoopbackServer server;
  server.AttachShard(OneShard());
  std::mt19937 random(5);
  std::vector<int> open;
  for (int i = 0; i < 30; ++i) {
    std::string bytes;
    if (i % 3 == 0) bytes = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    if (i % 3 == 1) bytes = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
    for (int n = 0; n < 3000; ++n) {
      bytes.push_back(static_cast<char>(random()));
    }
    const int fd = Connect(server->address());
    (void)!send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    // Half of them stay open, silent.
    if (i % 2 == 0) {
      open.push_back(fd);
    } else {
      close(fd);
    }
  }
  LoopbackProcess process;
  ParameterClient client({ChannelTo(server->address())}, &process.loop,
                         &process.executor);
  EXPECT_TRUE(Ping(client).ok());
  for (const int fd : open) close(fd);
}

grpc::Status CallRaw(grpc::Channel* channel, const std::string& method,
                     const std::string& request,
                     const std::string& token = "") {
  grpc::GenericStub stub(
      std::shared_ptr<grpc::Channel>(channel, [](grpc::Channel*) {}));
  grpc::CompletionQueue queue;
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() +
                       std::chrono::seconds(20));
  if (!token.empty()) context.AddMetadata("authorization", "Bearer " + token);
  const grpc::Slice slice(request);
  const auto call = stub.PrepareUnaryCall(&context, method,
                                          grpc::ByteBuffer(&slice, 1), &queue);
  grpc::ByteBuffer reply;
  grpc::Status status;
  call->StartCall();
  call->Finish(&reply, &status, nullptr);
  void* tag;
  bool ok;
  queue.Next(&tag, &ok);
  queue.Shutdown();
  while (queue.Next(&tag, &ok)) {
  }
  return status;
}

TEST(GarbageTest, MessagesThatAreNoneAreRefusedAndTheServerGoesOn) {
  LoopbackServer server;
  server.AttachShard(OneShard());
  const auto channel = PlainChannel(server->address());
  std::mt19937 random(6);
  for (const char* method : {"Pull", "Push", "PushChunk", "Stats"}) {
    const std::string path = std::string("/shoal.v1.ParameterServer/") + method;
    for (int i = 0; i < 50; ++i) {
      std::string bytes(1 + random() % 200, '\xff');
      // The first byte alone makes it malformed: field 0, or a group's end.
      for (char& c : bytes) c = static_cast<char>(random());
      bytes[0] = i % 2 == 0 ? '\x07' : '\x0c';
      EXPECT_EQ(CallRaw(channel.get(), path, bytes).error_code(),
                grpc::StatusCode::INVALID_ARGUMENT)
          << method;
    }
  }
  EXPECT_EQ(
      CallRaw(channel.get(), "/shoal.v1.ParameterServer/Drop", "").error_code(),
      grpc::StatusCode::UNIMPLEMENTED);
  EXPECT_EQ(
      CallRaw(channel.get(), "/shoal.v1.Cluster/Register", "").error_code(),
      grpc::StatusCode::UNIMPLEMENTED)
      << "only PS 0 has the coordinator";
  LoopbackProcess process;
  ParameterClient client({ChannelTo(server->address())}, &process.loop,
                         &process.executor);
  EXPECT_TRUE(Ping(client).ok());
}

TEST(LimitsTest, AnOversizedMessageIsRefusedByTheNameOfTheFlag) {
  RpcServerOptions options;
  options.max_message_bytes = 1 << 20;
  LoopbackServer server(options);
  server.AttachShard(OneShard(/*block_size=*/1 << 20));
  LoopbackProcess process;
  ParameterClientOptions client_options = {ChannelTo(server->address())};
  client_options.chunk_bytes = 8 << 20;  // as if the server took that
  ParameterClient client(client_options, &process.loop, &process.executor);
  const std::vector<float> gradients(1 << 20);
  const auto pushed = CallAndWait<PushReply>([&](Done<PushReply> done) {
    PushRequest push;
    push.identity = OneShardIdentity();
    push.batches.emplace_back();
    push.blocks = {{0, gradients}};
    client.Push(push, kTimeout, std::move(done));
  });
  EXPECT_EQ(pushed.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(
      std::string(pushed.status().message()),
      AllOf(HasSubstr("ps 0 (127.0.0.1:"), HasSubstr("--max_message_bytes")));
  std::vector<float> values(1 << 20);
  const auto pulled = CallAndWait<PullReply>([&](Done<PullReply> done) {
    PullRequest pull;
    pull.identity = OneShardIdentity();
    pull.blocks = {{0, absl::MakeSpan(values)}};
    client.Pull(pull, kTimeout, std::move(done));
  });
  EXPECT_EQ(pulled.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(pulled.status().message()),
              HasSubstr("--max_message_bytes"));
  EXPECT_TRUE(Ping(client).ok());
}

// ---- Tokens -----------------------------------------------------------------

TEST(AuthenticationTest, OnlyTheTokenOpensTheDoor) {
  RpcServerOptions options;
  options.token = "the-right-token";
  LoopbackServer server(options);
  server.AttachShard(OneShard());
  LoopbackProcess process;
  for (const std::string token :
       {"", "the-wrong-token", "the-right-toke", "the-right-token2"}) {
    ParameterClient client({ChannelTo(server->address(), token)}, &process.loop,
                           &process.executor);
    const absl::Status status = Ping(client);
    EXPECT_EQ(status.code(), absl::StatusCode::kUnauthenticated) << token;
    EXPECT_THAT(std::string(status.message()),
                AllOf(HasSubstr("ps 0"), HasSubstr("--token_file")));
  }
  ParameterClient client({ChannelTo(server->address(), "the-right-token")},
                         &process.loop, &process.executor);
  EXPECT_TRUE(Ping(client).ok());
}

TEST(AuthenticationTest, BeyondLoopbackATokenIsNeeded) {
  LoopbackProcess process;
  RpcServerOptions options;
  options.listen = "0.0.0.0:0";
  const auto open = RpcServer::Start(options, nullptr, &process.executor);
  EXPECT_EQ(open.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(open.status().message()),
              AllOf(HasSubstr("0.0.0.0:0"), HasSubstr("--token_file")));
  options.token = "a-token";
  EXPECT_TRUE(RpcServer::Start(options, nullptr, &process.executor).ok());
}

// ---- Connections and unfinished calls
// -----------------------------------------

TEST(ConnectionTest, WithoutATokenAConnectionIsClosedInTime) {
  RpcServerOptions options;
  options.token = "the-right-token";
  options.token_deadline = absl::Milliseconds(200);
  LoopbackServer server(options);
  server.AttachShard(OneShard());
  const auto channel = PlainChannel(server->address());
  EXPECT_EQ(CallRaw(channel.get(), "/shoal.v1.ParameterServer/Drop", "",
                    "the-right-token")
                .error_code(),
            grpc::StatusCode::UNIMPLEMENTED);
  const int fd = Connect(server->address());
  const timeval patience = {20, 0};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  char byte;
  ssize_t got;
  while ((got = recv(fd, &byte, 1, 0)) > 0) {
  }
  EXPECT_TRUE(got == 0 || errno == ECONNRESET) << std::strerror(errno);
  close(fd);
  // The one that has shown the token stays.
  EXPECT_EQ(channel->GetState(false), GRPC_CHANNEL_READY);
}

// A call that never sends its request.
class SilentCall {
 public:
  explicit SilentCall(const std::string& address)
      : stub_(PlainChannel(address)),
        call_(stub_.PrepareCall(&context_, "/shoal.v1.ParameterServer/Push",
                                &queue_)) {
    context_.set_deadline(std::chrono::system_clock::now() +
                          std::chrono::seconds(30));
    call_->StartCall(nullptr);
    Next();
  }
  ~SilentCall() {
    context_.TryCancel();
    queue_.Shutdown();
    void* tag;
    bool ok;
    while (queue_.Next(&tag, &ok)) {
    }
  }
  grpc::Status Wait() {
    grpc::Status status;
    call_->Finish(&status, nullptr);
    Next();
    return status;
  }

 private:
  void Next() {
    void* tag;
    bool ok;
    queue_.Next(&tag, &ok);
  }

  grpc::GenericStub stub_;
  grpc::CompletionQueue queue_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> call_;
};

TEST(UnfinishedCallTest, ARequestThatNeverComesGivesItsRoomBack) {
  RpcServerOptions options;
  options.max_message_bytes = 1 << 20;
  options.max_request_bytes = 2 << 20;
  options.transfer_deadline = absl::Milliseconds(500);
  LoopbackServer server(options);
  server.AttachShard(OneShard());
  SilentCall one(server->address());
  SilentCall two(server->address());
  LoopbackProcess process;
  ParameterClient client({ChannelTo(server->address())}, &process.loop,
                         &process.executor);
  // Waits for one of them.
  EXPECT_TRUE(Ping(client).ok());
  EXPECT_EQ(one.Wait().error_code(), grpc::StatusCode::CANCELLED);
  EXPECT_EQ(two.Wait().error_code(), grpc::StatusCode::CANCELLED);
}

TEST(LimitsTest, CallsBeyondTheirNumberAreToldToComeLater) {
  RpcServerOptions options;
  options.max_calls = 1;
  LoopbackServer server(options);
  server.AttachShard(OneShard());
  SilentCall one(server->address());
  LoopbackProcess process;
  ParameterClient client({ChannelTo(server->address())}, &process.loop,
                         &process.executor);
  absl::Status status;
  // Until the server has taken the call.
  for (int i = 0; i < 1000 && status.ok(); ++i) status = Ping(client);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(status.message()), HasSubstr("retry later"));
}

// Keeps the first pull until it is told to answer; answers others at once.
class HoldingService : public ParameterService {
 public:
  explicit HoldingService(Executor* executor) : executor_(executor) {}

  void Pull(PullRequest, absl::Duration, Done<PullReply> done) override {
    MutexLock lock(&mu_);
    ++pulls_;
    if (pulls_ == 1) {
      held_ = std::move(done);
      holds_.Notify();
      return;
    }
    Answer(std::move(done));
  }
  void Push(PushRequest, absl::Duration, Done<PushReply>) override {}
  void Stats(StatsRequest, absl::Duration, Done<StatsReply>) override {}

  bool WaitUntilItHolds() { return holds_.Wait(); }
  void LetGo() {
    MutexLock lock(&mu_);
    Answer(std::move(held_));
  }
  int pulls() {
    MutexLock lock(&mu_);
    return pulls_;
  }

 private:
  void Answer(Done<PullReply> done) {
    executor_->Post([done = std::move(done)]() mutable {
      PullReply reply;
      reply.version.life = OneShardIdentity().shard;
      std::move(done)(std::move(reply));
    });
  }

  Executor* const executor_;
  Notification holds_;
  Mutex mu_;
  int pulls_ ABSL_GUARDED_BY(mu_) = 0;
  Done<PullReply> held_ ABSL_GUARDED_BY(mu_);
};

TEST(LimitsTest, APullWhoseTimeIsUpBeforeThereIsRoomIsNotServed) {
  LoopbackProcess process;
  HoldingService service(&process.executor);
  RpcServerOptions options;
  options.max_message_bytes = 1 << 20;
  options.max_reply_bytes = 2 << 20;
  LoopbackServer server(options);
  server->AttachParameterService(&service);
  ParameterClient client({ChannelTo(server->address())}, &process.loop,
                         &process.executor);
  const auto pull = [&](absl::Span<float> values, absl::Duration timeout) {
    return [&client, values, timeout](Done<PullReply> done) {
      PullRequest request;
      request.identity = OneShardIdentity();
      request.blocks = {{0, values}};
      client.Pull(request, timeout, std::move(done));
    };
  };
  // Its reply takes all the room of its connection.
  std::vector<float> large((1 << 18) - 100);
  Completion<PullReply> first;
  first.Start(pull(absl::MakeSpan(large), kTimeout));
  ASSERT_TRUE(service.WaitUntilItHolds());
  std::vector<float> small(16);
  EXPECT_EQ(CallAndWait<PullReply>(
                pull(absl::MakeSpan(small), absl::Milliseconds(300)))
                .status()
                .code(),
            absl::StatusCode::kDeadlineExceeded);
  // The server counts from when the request came.
  absl::SleepFor(absl::Milliseconds(200));
  service.LetGo();
  EXPECT_TRUE(first.Wait().ok());
  // Comes after the one whose time was up.
  EXPECT_TRUE(
      CallAndWait<PullReply>(pull(absl::MakeSpan(small), kTimeout)).ok());
  EXPECT_EQ(service.pulls(), 2);
}

// ---- Starting ---------------------------------------------------------------

TEST(StartTest, ABusyPortIsAnErrorThatNamesIt) {
  LoopbackServer first;
  LoopbackProcess process;
  RpcServerOptions options;
  options.listen = first->address();
  const auto second = RpcServer::Start(options, nullptr, &process.executor);
  EXPECT_EQ(second.status().code(), absl::StatusCode::kAlreadyExists);
  EXPECT_THAT(std::string(second.status().message()),
              AllOf(HasSubstr(first->address()), HasSubstr("--ps_hosts")));
}

TEST(StartTest, AForeignAddressIsAnErrorThatNamesIt) {
  LoopbackProcess process;
  RpcServerOptions options;
  options.token = "a-token";
  options.listen = "192.0.2.1:5000";  // TEST-NET-1: no host's
  const auto server = RpcServer::Start(options, nullptr, &process.executor);
  EXPECT_EQ(server.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(server.status().message()),
              HasSubstr("192.0.2.1:5000"));
}

TEST(StartTest, AShardThatIsNotThereYetIsUnavailable) {
  LoopbackServer server;
  LoopbackProcess process;
  ParameterClient client({ChannelTo(server->address())}, &process.loop,
                         &process.executor);
  const absl::Status status = Ping(client);
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(status.message()), HasSubstr("starting"));
  server.AttachShard(OneShard());
  EXPECT_TRUE(Ping(client).ok());
}

TEST(StartTest, ImpossibleOptionsAreRefused) {
  LoopbackProcess process;
  const auto code = [&](RpcServerOptions options) {
    return RpcServer::Start(options, nullptr, &process.executor)
        .status()
        .code();
  };
  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  EXPECT_EQ(code({.listen = "nowhere"}), kInvalid);
  EXPECT_EQ(code({.token = "two words"}), kInvalid);
  EXPECT_EQ(code({.max_message_bytes = 1000}), kInvalid);
  EXPECT_EQ(code({.max_message_bytes = uint64_t{1} << 32}), kInvalid);
  EXPECT_EQ(code({.max_request_bytes = 100 << 20}), kInvalid);
  EXPECT_EQ(code({.max_reply_bytes = 100 << 20}), kInvalid);
  EXPECT_EQ(code({.max_calls = 0}), kInvalid);
  EXPECT_EQ(code({.token_deadline = absl::ZeroDuration()}), kInvalid);
  EXPECT_EQ(code({.threads = 0}), kInvalid);
  EXPECT_EQ(code({.max_call_time = absl::ZeroDuration()}), kInvalid);
}

}  // namespace
}  // namespace shoal
