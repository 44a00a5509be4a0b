#ifndef SHOAL_TESTS_HARNESS_NOTIFICATION_H_
#define SHOAL_TESTS_HARNESS_NOTIFICATION_H_

#include "absl/base/thread_annotations.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/mutex.h"

namespace shoal {

// One event that other threads can wait for, like absl::Notification, with a
// mutex that ThreadSanitizer understands. Thread-safe.
class Notification {
 public:
  void Notify() {
    MutexLock lock(&mu_);
    notified_ = true;
    changed_.SignalAll();
  }

  // True if the event happened within `limit`, which bounds a hanging test and
  // is not a sleep.
  bool Wait(absl::Duration limit = absl::Seconds(30)) const {
    const absl::Time deadline = absl::Now() + limit;
    MutexLock lock(&mu_);
    while (!notified_) {
      const absl::Duration left = deadline - absl::Now();
      if (left <= absl::ZeroDuration()) return false;
      changed_.WaitFor(&mu_, left);
    }
    return true;
  }

  bool notified() const {
    MutexLock lock(&mu_);
    return notified_;
  }

 private:
  mutable Mutex mu_;
  mutable CondVar changed_;
  bool notified_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace shoal

#endif  // SHOAL_TESTS_HARNESS_NOTIFICATION_H_
