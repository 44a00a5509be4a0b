#ifndef SHOAL_JOB_TO_MAIN_H_
#define SHOAL_JOB_TO_MAIN_H_

#include <optional>
#include <utility>

#include "base/mutex.h"
#include "job/main_wait.h"

namespace shoal {

// A value that another thread passes to the main thread. Thread-safe.
template <typename T>
class ToMain {
 public:
  // Tell notifies `wait`, which outlives this object.
  explicit ToMain(MainWait* wait) : wait_(wait) {}

  void Tell(T value) {
    MutexLock lock(&mu_);
    value_ = std::move(value);
    wait_->Notify();
  }

  // The value of the last Tell; nullopt before the first one.
  std::optional<T> Get() const {
    MutexLock lock(&mu_);
    return value_;
  }
  bool told() const {
    MutexLock lock(&mu_);
    return value_.has_value();
  }

 private:
  MainWait* const wait_;
  mutable Mutex mu_;
  std::optional<T> value_ ABSL_GUARDED_BY(mu_);
};

}  // namespace shoal

#endif  // SHOAL_JOB_TO_MAIN_H_
