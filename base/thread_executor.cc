#include "base/thread_executor.h"

#include <pthread.h>

#include <algorithm>

namespace shoal {

ThreadExecutor::ThreadExecutor(ThreadExecutorOptions options,
                               const Clock* clock)
    : clock_(clock) {
  const std::string name = options.name.substr(0, 15);
  for (int i = 0; i < std::max(1, options.threads); ++i) {
    threads_.emplace_back([this] { Run(); });
    pthread_setname_np(threads_.back().native_handle(), name.c_str());
  }
}

ThreadExecutor::~ThreadExecutor() { Shutdown(); }

void ThreadExecutor::Shutdown() {
  {
    MutexLock lock(&mu_);
    stopping_ = true;
    wake_.SignalAll();
  }
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
  // Tasks may own things whose destructors post again: destroy them unlocked.
  decltype(timers_) timers;
  MutexLock lock(&mu_);
  timers.swap(timers_);
}

bool ThreadExecutor::WaitUntilIdle(absl::Duration timeout) {
  const absl::Time deadline = clock_->Now() + timeout;
  MutexLock lock(&mu_);
  while (running_ > 0 || !ready_.empty()) {
    const absl::Duration left = deadline - clock_->Now();
    if (left <= absl::ZeroDuration()) return false;
    idle_.WaitFor(&mu_, left);
  }
  return true;
}

void ThreadExecutor::Post(Task task) {
  MutexLock lock(&mu_);
  if (stopping_) return;
  ready_.push_back(std::move(task));
  wake_.Signal();
}

void ThreadExecutor::PostAt(absl::Time when, Task task) {
  MutexLock lock(&mu_);
  if (stopping_) return;
  const auto at =
      timers_.emplace(std::make_pair(when, next_timer_++), std::move(task));
  // Every idle thread waits for the first timer. If only one thread did, it
  // might take a long task, and the timer would be late.
  if (at.first == timers_.begin()) wake_.SignalAll();
}

void ThreadExecutor::Run() {
  mu_.Lock();
  while (true) {
    if (!stopping_) {
      const absl::Time now = clock_->Now();
      while (!timers_.empty() && timers_.begin()->first.first <= now) {
        ready_.push_back(std::move(timers_.begin()->second));
        timers_.erase(timers_.begin());
      }
    }
    if (!ready_.empty()) {
      Task task = std::move(ready_.front());
      ready_.pop_front();
      if (!ready_.empty()) wake_.Signal();
      ++running_;
      mu_.Unlock();
      std::move(task)();
      task = nullptr;
      mu_.Lock();
      if (--running_ == 0 && ready_.empty()) idle_.SignalAll();
    } else if (stopping_) {
      break;
    } else if (timers_.empty()) {
      wake_.Wait(&mu_);
    } else {
      wake_.WaitFor(&mu_, timers_.begin()->first.first - clock_->Now());
    }
  }
  mu_.Unlock();
}

}  // namespace shoal
