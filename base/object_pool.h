#ifndef SHOAL_BASE_OBJECT_POOL_H_
#define SHOAL_BASE_OBJECT_POOL_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "base/check.h"
#include "base/mutex.h"

namespace shoal {

// Keeps objects that are costly to make, for later use. The object that was
// returned last is taken first, since the CPU caches may still hold it. Objects
// of several kinds (usually sizes) share one limit. Thread-safe: each call
// takes one short lock, and the pool's own memory is only its lists.
//
//   ObjectPool<Frame> pool(max_kept_bytes);
//   std::unique_ptr<Frame> frame = pool.Take();
//   …
//   pool.Return(std::move(frame));
template <typename T, size_t kKinds = 1>
class ObjectPool {
 public:
  // Keeps every object that is returned. The pool never holds more objects than
  // were in use at once.
  ObjectPool() : ObjectPool(std::numeric_limits<uint64_t>::max()) {}
  // Keeps objects that take at most `max_kept_bytes` together.
  // T::kept_bytes() is the memory of an object, including the object itself.
  explicit ObjectPool(uint64_t max_kept_bytes)
      : max_kept_bytes_(max_kept_bytes) {}

  // Returns a kept object, or a new one.
  std::unique_ptr<T> Take() {
    std::unique_ptr<T> object = TakeKept();
    return object != nullptr ? std::move(object) : std::make_unique<T>();
  }

  // Returns a kept object, or null. REQUIRES: kind < kKinds.
  std::unique_ptr<T> TakeKept(size_t kind = 0) {
    SHOAL_DCHECK(kind < kKinds);
    MutexLock lock(&mu_);
    auto& kept = kept_[kind];
    if (kept.empty()) return nullptr;
    std::unique_ptr<T> object = std::move(kept.back());
    kept.pop_back();
    kept_bytes_ -= Cost(*object);
    return object;
  }

  // Keeps `object`, or destroys it if the pool would exceed its limit.
  // REQUIRES: kind < kKinds.
  void Return(std::unique_ptr<T> object, size_t kind = 0) {
    SHOAL_DCHECK(kind < kKinds);
    const uint64_t cost = Cost(*object);
    MutexLock lock(&mu_);
    if (cost > max_kept_bytes_ - kept_bytes_) return;
    kept_bytes_ += cost;
    kept_[kind].push_back(std::move(object));
  }

 private:
  static uint64_t Cost(const T& object) {
    if constexpr (requires { object.kept_bytes(); }) {
      return object.kept_bytes();
    } else {
      return sizeof(T);
    }
  }

  const uint64_t max_kept_bytes_;
  Mutex mu_;
  uint64_t kept_bytes_ ABSL_GUARDED_BY(mu_) = 0;
  std::array<std::vector<std::unique_ptr<T>>, kKinds> kept_
      ABSL_GUARDED_BY(mu_);
};

}  // namespace shoal

#endif  // SHOAL_BASE_OBJECT_POOL_H_
