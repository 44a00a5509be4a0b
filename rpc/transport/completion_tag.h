#ifndef SHOAL_RPC_TRANSPORT_COMPLETION_TAG_H_
#define SHOAL_RPC_TRANSPORT_COMPLETION_TAG_H_

#include <grpcpp/completion_queue.h>

#include "absl/base/config.h"

#ifdef ABSL_HAVE_THREAD_SANITIZER
#include <sanitizer/tsan_interface.h>
#endif

namespace shoal {

// Every tag of our completion queues is one of these. Whoever starts an
// operation with a tag keeps the tag alive until its event.
//
// What was written before an operation starts is seen at its event: the queue
// hands it over. That happens inside gRPC, where ThreadSanitizer cannot see it,
// so it is told. Not handed over is what the starting thread still does after
// the start: an object that goes on there needs a lock of its own.
class CompletionTag {
 public:
  // The tag to start one operation with, asked for as it starts.
  void* Tag() {
#ifdef ABSL_HAVE_THREAD_SANITIZER
    __tsan_release(this);
#endif
    return this;
  }

  // Handles events until the queue is shut down and empty.
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
  // Once for each operation, on a thread of the queue. `ok`: see gRPC.
  virtual void OnEvent(bool ok) = 0;
};

}  // namespace shoal

#endif  // SHOAL_RPC_TRANSPORT_COMPLETION_TAG_H_
