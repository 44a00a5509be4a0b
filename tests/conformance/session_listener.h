#ifndef SHOAL_TESTS_CONFORMANCE_SESSION_LISTENER_H_
#define SHOAL_TESTS_CONFORMANCE_SESSION_LISTENER_H_

#include <cstddef>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/mutex.h"
#include "core/cluster_service.h"
#include "core/session_messages.h"
#include "gtest/gtest.h"

namespace shoal {

// The process's side of one connection: the messages that came, and the end.
// The test fails if the connection ends twice, if a message comes after the
// end, or if a callback runs inside a call of During. Thread-safe; callbacks
// may come after the listener is destroyed.
class SessionListener {
 public:
  SessionHandler Handler() {
    SessionHandler handler;
    handler.on_message = [state = state_](CoordinatorMessage message) {
      MutexLock lock(&state->mu);
      EXPECT_FALSE(state->ended) << "a message after the end";
      EXPECT_NE(state->calling, std::this_thread::get_id())
          << "a message inside a call";
      state->heard.push_back(std::move(message));
      state->changed.SignalAll();
    };
    handler.on_end = [state = state_](absl::Status status) {
      MutexLock lock(&state->mu);
      EXPECT_FALSE(state->ended) << "a second end";
      EXPECT_NE(state->calling, std::this_thread::get_id())
          << "an end inside a call";
      state->ended = true;
      state->end = std::move(status);
      state->changed.SignalAll();
    };
    return handler;
  }

  // Makes a call of the seam, in which no callback may run.
  void During(absl::FunctionRef<void()> call) {
    SetCalling(std::this_thread::get_id());
    call();
    SetCalling(std::thread::id());
  }

  // False: the test gave up waiting for this many messages.
  bool WaitForMessages(size_t n) {
    const absl::Time give_up = absl::Now() + kPatience;
    MutexLock lock(&state_->mu);
    while (state_->heard.size() < n && absl::Now() < give_up) {
      state_->changed.WaitFor(&state_->mu, absl::Seconds(1));
    }
    return state_->heard.size() >= n;
  }
  absl::Status WaitForEnd() {
    const absl::Time give_up = absl::Now() + kPatience;
    MutexLock lock(&state_->mu);
    while (!state_->ended && absl::Now() < give_up) {
      state_->changed.WaitFor(&state_->mu, absl::Seconds(1));
    }
    EXPECT_TRUE(state_->ended) << "the connection did not end";
    return state_->end;
  }
  bool ended() const {
    MutexLock lock(&state_->mu);
    return state_->ended;
  }
  std::vector<CoordinatorMessage> heard() const {
    MutexLock lock(&state_->mu);
    return state_->heard;
  }

 private:
  // Only ends a hanging test; it measures nothing.
  static constexpr absl::Duration kPatience = absl::Seconds(60);

  struct State {
    Mutex mu;
    CondVar changed;
    std::thread::id calling ABSL_GUARDED_BY(mu);
    std::vector<CoordinatorMessage> heard ABSL_GUARDED_BY(mu);
    bool ended ABSL_GUARDED_BY(mu) = false;
    absl::Status end ABSL_GUARDED_BY(mu);
  };

  void SetCalling(std::thread::id id) {
    MutexLock lock(&state_->mu);
    state_->calling = id;
  }

  const std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace shoal

#endif  // SHOAL_TESTS_CONFORMANCE_SESSION_LISTENER_H_
