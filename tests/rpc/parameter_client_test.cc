// The client against servers that are slow, frozen or gone, and with requests
// larger than a message.
#include "rpc/parameter_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/mutex.h"
#include "rpc/retrying_parameter_service.h"
#include "tests/conformance/completion.h"
#include "tests/rpc/loopback.h"

namespace shoal {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr absl::Duration kTimeout = absl::Seconds(30);

// Takes calls and holds them until it is told to answer.
class HoldingService : public ParameterService {
 public:
  void Pull(PullRequest request, absl::Duration timeout,
            Done<PullReply> done) override {
    MutexLock lock(&mu_);
    held_.push_back(std::move(done));
    changed_.SignalAll();
  }
  void Push(PushRequest, absl::Duration, Done<PushReply> done) override {}
  void Stats(StatsRequest, absl::Duration, Done<StatsReply> done) override {}

  void WaitUntilHeld(size_t n) {
    MutexLock lock(&mu_);
    while (held_.size() < n) changed_.Wait(&mu_);
  }
  void Release() {
    std::vector<Done<PullReply>> held;
    {
      MutexLock lock(&mu_);
      held.swap(held_);
    }
    for (auto& done : held) std::move(done)(PullReply{{{1, 1}, 0}, 0});
  }

 private:
  Mutex mu_;
  CondVar changed_;
  std::vector<Done<PullReply>> held_ ABSL_GUARDED_BY(mu_);
};

PullRequest EmptyPull() {
  PullRequest pull;
  pull.identity = OneShardIdentity();
  return pull;
}

absl::Status Pull(ParameterService& service, PullRequest request,
                  absl::Duration timeout = kTimeout) {
  return CallAndWait<PullReply>([&](Done<PullReply> done) {
           service.Pull(request, timeout, std::move(done));
         })
      .status();
}

absl::StatusOr<PushReply> Push(ParameterService& service, PushRequest request) {
  return CallAndWait<PushReply>([&](Done<PushReply> done) {
    service.Push(request, kTimeout, std::move(done));
  });
}

// A socket that takes connections and never says a word.
class SilentPort {
 public:
  SilentPort() : fd_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in at = {};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(bind(fd_, reinterpret_cast<sockaddr*>(&at), sizeof(at)), 0);
    EXPECT_EQ(listen(fd_, 8), 0);
    socklen_t size = sizeof(at);
    getsockname(fd_, reinterpret_cast<sockaddr*>(&at), &size);
    address_ = absl::StrCat("127.0.0.1:", ntohs(at.sin_port));
  }
  ~SilentPort() { close(fd_); }
  const std::string& address() const { return address_; }

 private:
  const int fd_;
  std::string address_;
};

TEST(ParameterClientTest, APeerThatIsNotThereIsUnavailableByName) {
  std::string address;
  {
    SilentPort port;
    address = port.address();
  }
  LoopbackProcess process;
  ParameterClient client({ChannelTo(address)}, &process.loop,
                         &process.executor);
  const absl::Status status = Pull(client, EmptyPull());
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr(absl::StrCat("ps 0 (", address, ")")));
}

TEST(ParameterClientTest, AFrozenPeerEndsByTheDeadline) {
  SilentPort port;
  LoopbackProcess process;
  ParameterClient client({ChannelTo(port.address())}, &process.loop,
                         &process.executor);
  const absl::Status status =
      Pull(client, EmptyPull(), absl::Milliseconds(200));
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("ps 0"), HasSubstr("200ms")));
}

TEST(ParameterClientTest, ASlowShardEndsByTheDeadlineAndItsAnswerIsDropped) {
  LoopbackServer server;
  HoldingService slow;
  server->AttachParameterService(&slow);
  LoopbackProcess process;
  ParameterClient client({ChannelTo(server->address())}, &process.loop,
                         &process.executor);
  EXPECT_EQ(Pull(client, EmptyPull(), absl::Milliseconds(200)).code(),
            absl::StatusCode::kDeadlineExceeded);
  slow.WaitUntilHeld(1);
  slow.Release();
  Completion<PullReply> next;
  next.Start([&](Done<PullReply> done) {
    client.Pull(EmptyPull(), kTimeout, std::move(done));
  });
  slow.WaitUntilHeld(1);
  slow.Release();
  EXPECT_TRUE(next.Wait().ok());
}

TEST(ParameterClientTest, ItsEndCompletesWhatIsInFlight) {
  LoopbackServer server;
  HoldingService slow;
  server->AttachParameterService(&slow);
  LoopbackProcess process;
  auto client = std::make_unique<ParameterClient>(
      ParameterClientOptions{ChannelTo(server->address())}, &process.loop,
      &process.executor);
  Completion<PullReply> pull;
  pull.Start([&](Done<PullReply> done) {
    client->Pull(EmptyPull(), kTimeout, std::move(done));
  });
  slow.WaitUntilHeld(1);
  client.reset();
  EXPECT_EQ(pull.Wait().status().code(), absl::StatusCode::kCancelled);
  slow.Release();
}

TEST(ParameterClientTest, AServerThatEndsFailsItsCallsAtOnce) {
  LoopbackServer server;
  HoldingService slow;
  server->AttachParameterService(&slow);
  LoopbackProcess process;
  ParameterClient client({ChannelTo(server->address())}, &process.loop,
                         &process.executor);
  Completion<PullReply> pull;
  pull.Start([&](Done<PullReply> done) {
    client.Pull(EmptyPull(), kTimeout, std::move(done));
  });
  slow.WaitUntilHeld(1);
  std::thread stop([&] { server.Stop(); });
  const absl::Status status = pull.Wait().status();
  EXPECT_FALSE(status.ok());
  // The server waits for the service to let go of the call.
  slow.Release();
  stop.join();
}

TEST(ParameterClientTest, RetriesReachAServerThatStartsLate) {
  std::string address;
  {
    SilentPort port;
    address = port.address();
  }
  LoopbackProcess process;
  RetryingParameterService service(
      std::make_unique<ParameterClient>(
          ParameterClientOptions{ChannelTo(address)}, &process.loop,
          &process.executor),
      RetryOptions(), /*seed=*/1, &process.executor);
  Completion<PullReply> pull;
  pull.Start([&](Done<PullReply> done) {
    service.Pull(EmptyPull(), kTimeout, std::move(done));
  });
  RpcServerOptions options;
  options.listen = address;
  LoopbackServer server(options);
  server.AttachShard(OneShard());
  EXPECT_TRUE(pull.Wait().ok());
}

// ---- Requests larger than a message -----------------------------------------

// 64 KiB messages make chunks of a block of 1 MiB.
constexpr uint64_t kChunk = 64 << 10;
constexpr int64_t kBlock = 1 << 18;

class ChunkTest : public testing::Test {
 protected:
  ChunkTest() {
    RpcServerOptions options;
    options.max_message_bytes = 1 << 20;
    options.payload = &served_;
    server_ = std::make_unique<LoopbackServer>(options);
    server_->AttachShard(OneShard(kBlock));
    ParameterClientOptions client_options = {ChannelTo((*server_)->address())};
    client_options.chunk_bytes = kChunk;
    client_options.payload = &called_;
    client_ = std::make_unique<ParameterClient>(client_options, &process_.loop,
                                                &process_.executor);
    gradients_.resize(kBlock);
    std::iota(gradients_.begin(), gradients_.end(), 1.0f);
    ids_.resize(20'000);
    std::iota(ids_.begin(), ids_.end(), 5);
    rows_.resize(ids_.size() * 4);
    std::iota(rows_.begin(), rows_.end(), 0.5f);
  }

  PushRequest NewPush(uint32_t index) {
    PushRequest push;
    push.identity = OneShardIdentity();
    push.batches = {{.id = {0, 0, index}, .lease = 1}};
    push.pulled = {{1, 1}, 0};
    push.tables = {{0, ids_, rows_}};
    push.blocks = {{0, gradients_}};
    return push;
  }

  PayloadCounters served_;
  PayloadCounters called_;
  std::unique_ptr<LoopbackServer> server_;
  LoopbackProcess process_;
  std::unique_ptr<ParameterClient> client_;
  std::vector<float> gradients_;
  std::vector<FeatureId> ids_;
  std::vector<float> rows_;
};

TEST_F(ChunkTest, LargePushesAndPullsGoThroughWholeAndOnce) {
  for (const bool repeat : {false, true}) {
    const auto pushed = Push(*client_, NewPush(0));
    ASSERT_TRUE(pushed.ok()) << pushed.status();
    EXPECT_EQ(pushed->verdict, Verdict::kApplied);
    EXPECT_EQ(pushed->repeat, repeat);
    EXPECT_EQ(pushed->version.count, 1);
  }
  std::vector<float> block(kBlock);
  std::vector<float> rows(rows_.size());
  PullRequest pull = EmptyPull();
  pull.tables = {{0, ids_, absl::MakeSpan(rows)}};
  pull.blocks = {{0, absl::MakeSpan(block)}};
  ASSERT_TRUE(Pull(*client_, pull).ok());
  for (int64_t i = 0; i < kBlock; ++i) ASSERT_EQ(block[i], -gradients_[i]);
  for (size_t i = 0; i < rows.size(); ++i) ASSERT_EQ(rows[i], -rows_[i]);

  // Bulk bytes were copied once on each side: two pushes, and a pull whose
  // values the server never copied.
  const uint64_t push_bytes = (kBlock + rows_.size()) * 4 + ids_.size() * 8;
  const uint64_t value_bytes = (kBlock + rows_.size()) * 4;
  const CopyStats client = client_->copy_stats();
  EXPECT_EQ(client.payload_bytes,
            2 * push_bytes + ids_.size() * 8 + value_bytes);
  EXPECT_EQ(client.copied_bytes, client.payload_bytes);
  const CopyStats server = (*server_)->copy_stats();
  EXPECT_EQ(server.payload_bytes, 2 * push_bytes + ids_.size() * 8);
  EXPECT_EQ(server.copied_bytes, server.payload_bytes);

  // Each side counts what it sent and received, by method.
  const PayloadBytes called = called_.Read();
  EXPECT_EQ(called.pull.sent, ids_.size() * 8);
  EXPECT_EQ(called.pull.received, value_bytes);
  EXPECT_EQ(called.push.sent, 2 * push_bytes);
  EXPECT_EQ(called.push.received, 0u);
  const PayloadBytes served = served_.Read();
  EXPECT_EQ(served.pull.received, called.pull.sent);
  EXPECT_EQ(served.pull.sent, called.pull.received);
  EXPECT_EQ(served.push.received, called.push.sent);
  EXPECT_EQ(served.push.sent, 0u);
}

TEST_F(ChunkTest, AChunkedPushOfAListMarksEachBatch) {
  PushRequest push = NewPush(0);
  for (uint32_t i = 1; i < 40; ++i) push.batches.push_back({.id = {0, 0, i}});
  for (const bool repeat : {false, true}) {
    const auto pushed = Push(*client_, push);
    ASSERT_TRUE(pushed.ok()) << pushed.status();
    EXPECT_EQ(pushed->repeat, repeat);
    EXPECT_EQ(pushed->version.count, 1);
  }
  EXPECT_TRUE(Push(*client_, NewPush(39))->repeat);
  EXPECT_FALSE(Push(*client_, NewPush(40))->repeat);
}

TEST_F(ChunkTest, AChunkedPushThatTheShardRefusesIsRefused) {
  PushRequest push = NewPush(0);
  push.identity.shard = {1, 9};
  const auto pushed = Push(*client_, push);
  EXPECT_EQ(pushed.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(Push(*client_, NewPush(0)).ok());
}

TEST(ChunkLimitTest, UploadsBeyondTheStagingLimitAreResourceExhausted) {
  RpcServerOptions options;
  options.max_staged_bytes = 512 << 10;
  LoopbackServer server(options);
  server.AttachShard(OneShard(kBlock));
  LoopbackProcess process;
  ParameterClientOptions client_options = {ChannelTo(server->address())};
  client_options.chunk_bytes = kChunk;
  ParameterClient client(client_options, &process.loop, &process.executor);
  const std::vector<float> gradients(kBlock);
  PushRequest push;
  push.identity = OneShardIdentity();
  push.batches.emplace_back();
  push.blocks = {{0, gradients}};
  EXPECT_EQ(Push(client, push).status().code(),
            absl::StatusCode::kResourceExhausted);
}

TEST(ConcurrencyTest, ManyClientsAtOnceAreServedOnce) {
  RpcServerOptions options;
  options.threads = 2;
  // Less than the calls need, so that some wait.
  options.max_message_bytes = 1 << 20;
  options.max_request_bytes = 3 << 20;
  options.max_reply_bytes = 3 << 20;
  LoopbackServer server(options);
  server.AttachShard(OneShard());
  LoopbackProcess process;
  constexpr int kClients = 4;
  constexpr int kPushes = 50;
  std::atomic<int> applied = 0;
  std::vector<std::thread> threads;
  for (int c = 0; c < kClients; ++c) {
    threads.emplace_back([&, c] {
      ParameterClientOptions client_options = {ChannelTo(server->address())};
      ParameterClient client(client_options, &process.loop, &process.executor);
      const std::vector<float> ones(16, 1.0f);
      std::vector<std::unique_ptr<Completion<PushReply>>> pushes;
      for (int i = 0; i < kPushes; ++i) {
        PushRequest push;
        push.identity = OneShardIdentity();
        push.batches = {
            {.id = {0, static_cast<uint32_t>(c), static_cast<uint32_t>(i)}}};
        push.pulled = {{1, 1}, 0};
        push.blocks = {{0, ones}};
        pushes.push_back(std::make_unique<Completion<PushReply>>());
        pushes.back()->Start([&](Done<PushReply> done) {
          client.Push(push, kTimeout, std::move(done));
        });
      }
      for (auto& push : pushes) {
        const auto reply = push->Wait();
        EXPECT_TRUE(reply.ok()) << reply.status();
        if (reply.ok() && !reply->repeat) ++applied;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(applied, kClients * kPushes);
  ParameterClient client({ChannelTo(server->address())}, &process.loop,
                         &process.executor);
  std::vector<float> values(16);
  PullRequest pull = EmptyPull();
  pull.blocks = {{0, absl::MakeSpan(values)}};
  ASSERT_TRUE(Pull(client, pull).ok());
  EXPECT_THAT(values, testing::Each(-1.0f * kClients * kPushes));
}

TEST(OptionsTest, ImpossibleOnesAreRefused) {
  const auto code = [](ParameterClientOptions options) {
    return options.Validate().code();
  };
  const ParameterClientOptions good = {ChannelTo("localhost:1")};
  EXPECT_EQ(code(good), absl::StatusCode::kOk);
  ParameterClientOptions bad = good;
  bad.channel.address = "localhost:0";
  EXPECT_EQ(code(bad), absl::StatusCode::kInvalidArgument);
  bad = good;
  bad.chunk_bytes = bad.channel.max_message_bytes;
  EXPECT_EQ(code(bad), absl::StatusCode::kInvalidArgument);
  bad = good;
  bad.chunks_in_flight = 0;
  EXPECT_EQ(code(bad), absl::StatusCode::kInvalidArgument);
  bad = good;
  bad.channel.token = "two words";
  EXPECT_EQ(code(bad), absl::StatusCode::kInvalidArgument);
  bad = good;
  bad.channel.keepalive_time = absl::ZeroDuration();
  EXPECT_EQ(code(bad), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace shoal
