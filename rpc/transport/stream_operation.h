#ifndef SHOAL_RPC_TRANSPORT_STREAM_OPERATION_H_
#define SHOAL_RPC_TRANSPORT_STREAM_OPERATION_H_

#include <memory>
#include <utility>

#include "base/check.h"
#include "base/mutex.h"
#include "rpc/transport/completion_tag.h"

namespace shoal {

// One kind of operation of a stream (read, write, …). At most one operation of
// a kind is under way at a time. It keeps the owner alive until its event.
// Guarded by the owner's mutex.
template <typename Owner>
class StreamOperation final : public CompletionTag {
 public:
  // `handle` runs at each event. The mutex is not held then.
  StreamOperation(Owner* owner, Mutex* mu, void (Owner::*handle)(bool))
      : owner_(owner), mu_(mu), handle_(handle) {}

  // Returns the tag for an operation that starts now. REQUIRES: the caller
  // holds the mutex, and no operation of this kind is under way.
  void* Tag() {
    SHOAL_DCHECK(keep_ == nullptr);
    keep_ = owner_->shared_from_this();
    return CompletionTag::Tag();
  }

 private:
  void OnEvent(bool ok) override {
    std::shared_ptr<Owner> keep;
    {
      MutexLock lock(mu_);
      keep = std::move(keep_);
    }
    (keep.get()->*handle_)(ok);
  }

  Owner* const owner_;
  Mutex* const mu_;
  void (Owner::*const handle_)(bool);
  std::shared_ptr<Owner> keep_;
};

}  // namespace shoal

#endif  // SHOAL_RPC_TRANSPORT_STREAM_OPERATION_H_
