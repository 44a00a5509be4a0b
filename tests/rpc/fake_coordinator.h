#ifndef SHOAL_TESTS_RPC_FAKE_COORDINATOR_H_
#define SHOAL_TESTS_RPC_FAKE_COORDINATOR_H_

#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/time/clock.h"
#include "base/executor.h"
#include "base/mutex.h"
#include "core/cluster_service.h"
#include "core/done.h"
#include "core/ids.h"
#include "core/registration.h"
#include "core/session_messages.h"
#include "gtest/gtest.h"
#include "tests/harness/fake_cluster.h"

namespace shoal {

// A coordinator that keeps what it hears and says what it is told. All of
// it thread-safe.
class FakeCoordinator : public FakeCluster {
 public:
  explicit FakeCoordinator(Executor* executor) : FakeCluster(executor) {}

  void Register(RegisterRequest request, absl::Duration timeout,
                Done<RegisterReply> done) override {
    absl::StatusOr<RegisterReply> reply =
        RegisterReply{{1, 7}, true, absl::Seconds(1), absl::Seconds(5)};
    if (request.job != "job") {
      reply = absl::FailedPreconditionError("this is job 'job'");
    }
    executor()->Post([done = std::move(done), reply]() mutable {
      std::move(done)(std::move(reply));
    });
  }

  std::unique_ptr<ClusterSession> OpenSession(SessionOpening opening,
                                              SessionHandler handler) override {
    const Life life = opening.life;
    MutexLock lock(&mu_);
    auto shared = std::make_shared<SessionHandler>(std::move(handler));
    sessions_[life].handler = shared;
    sessions_[life].opening = opening;
    changed_.SignalAll();
    return std::make_unique<Session>(this, life);
  }

  // As the coordinator: say something to a process; end its session.
  void Say(Life life, CoordinatorMessage message) {
    executor()->Post([handler = Handler(life), message]() mutable {
      if (handler != nullptr) handler->on_message(std::move(message));
    });
  }
  void End(Life life, absl::Status status) {
    executor()->Post([handler = Handler(life), status] {
      if (handler != nullptr) handler->on_end(status);
    });
  }

  // Between these two, what a process says next keeps the thread that brought
  // it, and so the reading of all further messages of its session.
  void StopHearing() { SetDeaf(true); }
  void GoOnHearing() { SetDeaf(false); }

  // Waits, as long as a hanging test may last, until the session of `life` is
  // as `condition` wants.
  struct SessionView {
    bool open = false;
    bool closed = false;  // by the other side
    std::vector<ProcessMessage> heard;
  };
  bool WaitFor(Life life,
               absl::FunctionRef<bool(const SessionView&)> condition) {
    const absl::Time give_up = absl::Now() + absl::Seconds(60);
    MutexLock lock(&mu_);
    while (absl::Now() < give_up) {
      const Entry& entry = sessions_[life];
      view_ = {entry.handler != nullptr, entry.closed, entry.heard};
      if (condition(view_)) return true;
      changed_.WaitFor(&mu_, absl::Seconds(1));
    }
    return false;
  }
  SessionOpening Opening(Life life) {
    MutexLock lock(&mu_);
    return sessions_[life].opening;
  }
  std::vector<ProcessMessage> Heard(Life life) {
    MutexLock lock(&mu_);
    return sessions_[life].heard;
  }

 private:
  struct Entry {
    std::shared_ptr<SessionHandler> handler;
    SessionOpening opening;
    bool closed = false;
    std::vector<ProcessMessage> heard;
  };
  class Session : public ClusterSession {
   public:
    Session(FakeCoordinator* coordinator, Life life)
        : coordinator_(coordinator), life_(life) {}
    ~Session() override {
      MutexLock lock(&coordinator_->mu_);
      coordinator_->sessions_[life_].closed = true;
      coordinator_->changed_.SignalAll();
    }
    void Send(ProcessMessage message) override {
      MutexLock lock(&coordinator_->mu_);
      const absl::Time give_up = absl::Now() + absl::Seconds(60);
      while (coordinator_->deaf_ && absl::Now() < give_up) {
        coordinator_->changed_.WaitFor(&coordinator_->mu_, absl::Seconds(1));
      }
      coordinator_->sessions_[life_].heard.push_back(std::move(message));
      coordinator_->changed_.SignalAll();
    }

   private:
    FakeCoordinator* const coordinator_;
    const Life life_;
  };

  void SetDeaf(bool deaf) {
    MutexLock lock(&mu_);
    deaf_ = deaf;
    changed_.SignalAll();
  }
  std::shared_ptr<SessionHandler> Handler(Life life) {
    MutexLock lock(&mu_);
    return sessions_[life].handler;
  }

  Mutex mu_;
  CondVar changed_;
  std::map<Life, Entry> sessions_ ABSL_GUARDED_BY(mu_);
  SessionView view_ ABSL_GUARDED_BY(mu_);
  bool deaf_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace shoal

#endif  // SHOAL_TESTS_RPC_FAKE_COORDINATOR_H_
