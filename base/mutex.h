#ifndef SHOAL_BASE_MUTEX_H_
#define SHOAL_BASE_MUTEX_H_

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"

namespace shoal {

// std::mutex with clang's lock annotations. Members that it guards carry
// ABSL_GUARDED_BY, and clang refuses to access them without the lock. Debian's
// absl::Mutex is not built for ThreadSanitizer, which therefore reports races
// in correct code; ThreadSanitizer understands this class.
class ABSL_LOCKABLE Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void Lock() ABSL_EXCLUSIVE_LOCK_FUNCTION() { mu_.lock(); }
  void Unlock() ABSL_UNLOCK_FUNCTION() { mu_.unlock(); }

 private:
  friend class CondVar;
  std::mutex mu_;
};

class ABSL_SCOPED_LOCKABLE MutexLock {
 public:
  explicit MutexLock(Mutex* mu) ABSL_EXCLUSIVE_LOCK_FUNCTION(mu) : mu_(mu) {
    mu_->Lock();
  }
  ~MutexLock() ABSL_UNLOCK_FUNCTION() { mu_->Unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex* const mu_;
};

// A wake may be spurious: wait in a loop that checks the condition.
class CondVar {
 public:
  void Wait(Mutex* mu) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu) {
    std::unique_lock<std::mutex> lock(mu->mu_, std::adopt_lock);
    cv_.wait(lock);
    lock.release();
  }
  // Returns true if `timeout` passed without a wake. Waits a year at most.
  bool WaitFor(Mutex* mu, absl::Duration timeout)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu) {
    std::unique_lock<std::mutex> lock(mu->mu_, std::adopt_lock);
    // A longer wait, such as InfiniteDuration, would overflow the clock and so
    // end at once.
    const absl::Duration bounded = std::min(timeout, absl::Hours(24 * 365));
    const bool late = cv_.wait_for(lock, absl::ToChronoNanoseconds(bounded)) ==
                      std::cv_status::timeout;
    lock.release();
    return late;
  }
  void Signal() { cv_.notify_one(); }
  void SignalAll() { cv_.notify_all(); }

 private:
  std::condition_variable cv_;
};

}  // namespace shoal

#endif  // SHOAL_BASE_MUTEX_H_
