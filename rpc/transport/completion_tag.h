#ifndef SHOAL_RPC_TRANSPORT_COMPLETION_TAG_H_
#define SHOAL_RPC_TRANSPORT_COMPLETION_TAG_H_

#include <grpcpp/completion_queue.h>

#include "absl/base/config.h"

#ifdef ABSL_HAVE_THREAD_SANITIZER
#include <sanitizer/tsan_interface.h>
#endif

namespace shoal {

// The base class of all tags of our completion queues. The caller that starts
// an operation with a tag must keep the tag alive until the operation's event.
//
// OnEvent sees everything that the starting thread wrote before the operation
// started, because the queue synchronises the two threads. The queue does so
// inside gRPC, where ThreadSanitizer cannot see it; Tag and RunQueue therefore
// tell ThreadSanitizer. What the starting thread writes after the start is not
// synchronised: an object that the thread still uses then needs a lock.
class CompletionTag {
 public:
  // Returns the tag for one operation. Call it right before the operation
  // starts.
  void* Tag() {
#ifdef ABSL_HAVE_THREAD_SANITIZER
    __tsan_release(this);
#endif
    return this;
  }

  // Calls OnEvent for each event until the queue is shut down and empty.
  static void RunQueue(grpc::CompletionQueue* queue) {
    void* tag;
    bool ok;
    while (queue->Next(&tag, &ok)) {
#ifdef ABSL_HAVE_THREAD_SANITIZER
      __tsan_acquire(tag);
#endif
      static_cast<CompletionTag*>(tag)->OnEvent(ok);
    }
  }

 protected:
  ~CompletionTag() = default;

 private:
  // Called once for each operation, on a thread of the queue. `ok` is gRPC's.
  virtual void OnEvent(bool ok) = 0;
};

}  // namespace shoal

#endif  // SHOAL_RPC_TRANSPORT_COMPLETION_TAG_H_
