#ifndef SHOAL_RPC_SERVER_OBJECT_POOL_H_
#define SHOAL_RPC_SERVER_OBJECT_POOL_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "base/mutex.h"

namespace shoal {

// Objects that are costly to make anew, for the next one who needs one. The
// last one returned is taken first, while the caches still hold it. T says what
// memory it keeps (kept_bytes). Thread-safe.
template <typename T>
class ObjectPool {
 public:
  // Objects with at most `max_kept_bytes` together are kept.
  explicit ObjectPool(uint64_t max_kept_bytes)
      : max_kept_bytes_(max_kept_bytes) {}

  std::unique_ptr<T> Take() {
    {
      MutexLock lock(&mu_);
      if (!kept_.empty()) {
        std::unique_ptr<T> object = std::move(kept_.back());
        kept_.pop_back();
        kept_bytes_ -= Cost(*object);
        return object;
      }
    }
    return std::make_unique<T>();
  }

  void Return(std::unique_ptr<T> object) {
    const uint64_t cost = Cost(*object);
    MutexLock lock(&mu_);
    if (cost > max_kept_bytes_ - kept_bytes_) return;
    kept_bytes_ += cost;
    kept_.push_back(std::move(object));
  }

 private:
  static uint64_t Cost(const T& object) {
    return sizeof(T) + object.kept_bytes();
  }

  const uint64_t max_kept_bytes_;
  Mutex mu_;
  uint64_t kept_bytes_ ABSL_GUARDED_BY(mu_) = 0;
  std::vector<std::unique_ptr<T>> kept_ ABSL_GUARDED_BY(mu_);
};

}  // namespace shoal

#endif  // SHOAL_RPC_SERVER_OBJECT_POOL_H_
