// The check of the ThreadSanitizer run itself: RPC handlers post bodies to an
// executor, as ours do, and the bodies count without a lock. Its ctest passes
// only if that race is reported, so a suppression that hides races in our own
// code cannot go unnoticed. With the argument `locked` the bodies take a lock
// and nothing may be reported.
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <thread>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/thread_executor.h"
#include "tests/harness/notification.h"

namespace shoal {
namespace {

constexpr int kCalls = 2;  // each body waits for the other

class Counter {
 public:
  explicit Counter(bool locked) : locked_(locked) {}

  // The race to find: its name must be in the report.
  void CountUnguarded() { ++count_; }

  void Count() {
    if (locked_) {
      MutexLock lock(&mu_);
      ++count_;
    } else {
      CountUnguarded();
    }
    // Both threads are in here at once, so neither orders the other.
    arrived_.fetch_add(1, std::memory_order_relaxed);
    while (arrived_.load(std::memory_order_relaxed) < kCalls) {
      std::this_thread::yield();
    }
  }

 private:
  const bool locked_;
  Mutex mu_;
  int count_ = 0;
  std::atomic<int> arrived_{0};
};

// Answers any call with nothing, after its body ran on the executor.
class CountingHandler final : public grpc::ServerGenericBidiReactor {
 public:
  CountingHandler(Executor* executor, Counter* counter) {
    executor->Post([this, counter] {
      counter->Count();
      Finish(grpc::Status::OK);
    });
  }
  void OnDone() override { delete this; }
};

class Service final : public grpc::CallbackGenericService {
 public:
  Service(Executor* executor, Counter* counter)
      : executor_(executor), counter_(counter) {}
  grpc::ServerGenericBidiReactor* CreateReactor(
      grpc::GenericCallbackServerContext* context) override {
    return new CountingHandler(executor_, counter_);
  }

 private:
  Executor* const executor_;
  Counter* const counter_;
};

int Run(bool locked) {
  const RealClock clock;
  Counter counter(locked);
  ThreadExecutor executor({.name = "bodies", .threads = kCalls}, &clock);
  Service service(&executor, &counter);
  grpc::ServerBuilder builder;
  builder.RegisterCallbackGenericService(&service);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  grpc::GenericStub stub(server->InProcessChannel(grpc::ChannelArguments()));
  const grpc::Slice nothing;
  struct Call {
    grpc::ClientContext context;
    grpc::ByteBuffer request, reply;
    Notification done;
  };
  Call calls[kCalls];
  for (Call& call : calls) {
    call.request = grpc::ByteBuffer(&nothing, 1);
    stub.UnaryCall(&call.context, "/planted/Race", grpc::StubOptions(),
                   &call.request, &call.reply,
                   [&call](grpc::Status) { call.done.Notify(); });
  }
  for (Call& call : calls) {
    if (!call.done.Wait()) return 2;
  }
  server->Shutdown();
  return 0;
}

}  // namespace
}  // namespace shoal

int main(int argc, char** argv) {
  return shoal::Run(argc > 1 && std::strcmp(argv[1], "locked") == 0);
}
