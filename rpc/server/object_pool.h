#ifndef SHOAL_RPC_SERVER_OBJECT_POOL_H_
#define SHOAL_RPC_SERVER_OBJECT_POOL_H_

#include <memory>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "base/mutex.h"

namespace shoal {

// Objects that are costly to make anew, for the next one who needs one. The
// last one returned is taken first, while the caches still hold it. There are
// never more than were in use at once. Thread-safe.
template <typename T>
class ObjectPool {
 public:
  std::unique_ptr<T> Take() {
    {
      MutexLock lock(&mu_);
      if (!kept_.empty()) {
        std::unique_ptr<T> object = std::move(kept_.back());
        kept_.pop_back();
        return object;
      }
    }
    return std::make_unique<T>();
  }

  void Return(std::unique_ptr<T> object) {
    MutexLock lock(&mu_);
    kept_.push_back(std::move(object));
  }

 private:
  Mutex mu_;
  std::vector<std::unique_ptr<T>> kept_ ABSL_GUARDED_BY(mu_);
};

}  // namespace shoal

#endif  // SHOAL_RPC_SERVER_OBJECT_POOL_H_
