#ifndef SHOAL_TESTS_CONFORMANCE_COMPLETION_H_
#define SHOAL_TESTS_CONFORMANCE_COMPLETION_H_

#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/mutex.h"
#include "core/parameter_service.h"
#include "gtest/gtest.h"

namespace shoal {

// Watches one completion of a seam's call. The test fails if the completion
// runs twice, runs inside the call, or is destroyed without being run. Use one
// for each call:
//   Completion<PullReply> completion;
//   completion.Start([&](Done<PullReply> done) { service.Pull(…, done); });
//   absl::StatusOr<PullReply> reply = completion.Wait();
template <typename T>
class Completion {
 public:
  // Calls `call` with the completion to pass on. At most once.
  void Start(absl::FunctionRef<void(Done<T>)> call) {
    {
      MutexLock lock(&state_->mu);
      state_->calling = std::this_thread::get_id();
    }
    call(Done<T>([bomb = Bomb(state_)](absl::StatusOr<T> result) mutable {
      bomb.Run(std::move(result));
    }));
    MutexLock lock(&state_->mu);
    state_->calling = std::thread::id();
  }

  // Waits for the result. A completion that never comes fails the test. Call
  // once.
  absl::StatusOr<T> Wait() {
    MutexLock lock(&state_->mu);
    // Far above any real wait: the limit only ends a hanging test.
    for (int i = 0; i < 60 && !state_->result.has_value(); ++i) {
      state_->changed.WaitFor(&state_->mu, absl::Seconds(1));
    }
    if (!state_->result.has_value()) {
      ADD_FAILURE() << "the call did not complete";
      return absl::DeadlineExceededError("the test gave up waiting");
    }
    return std::move(*state_->result);
  }

  bool ran() const {
    MutexLock lock(&state_->mu);
    return state_->runs > 0;
  }

 private:
  struct State {
    Mutex mu;
    CondVar changed;
    std::thread::id calling ABSL_GUARDED_BY(mu);
    int runs ABSL_GUARDED_BY(mu) = 0;
    std::optional<absl::StatusOr<T>> result ABSL_GUARDED_BY(mu);
  };

  class Bomb {
   public:
    explicit Bomb(std::shared_ptr<State> state) : state_(std::move(state)) {}
    Bomb(Bomb&& other) = default;
    Bomb& operator=(Bomb&&) = delete;
    ~Bomb() {
      if (state_ == nullptr) return;
      MutexLock lock(&state_->mu);
      EXPECT_EQ(state_->runs, 1) << "a completion was destroyed unrun";
    }
    void Run(absl::StatusOr<T> result) {
      MutexLock lock(&state_->mu);
      EXPECT_EQ(++state_->runs, 1) << "a completion ran more than once";
      EXPECT_NE(state_->calling, std::this_thread::get_id())
          << "a completion ran inside the call";
      if (!state_->result.has_value()) state_->result = std::move(result);
      state_->changed.SignalAll();
    }

   private:
    std::shared_ptr<State> state_;
  };

  const std::shared_ptr<State> state_ = std::make_shared<State>();
};

// Starts a call and waits for its result.
template <typename T>
absl::StatusOr<T> CallAndWait(absl::FunctionRef<void(Done<T>)> call) {
  Completion<T> completion;
  completion.Start(call);
  return completion.Wait();
}

}  // namespace shoal

#endif  // SHOAL_TESTS_CONFORMANCE_COMPLETION_H_
