#ifndef SHOAL_RPC_TRANSPORT_COMPLETION_TAG_H_
#define SHOAL_RPC_TRANSPORT_COMPLETION_TAG_H_

#include <grpcpp/completion_queue.h>

namespace shoal {

// Every tag of our completion queues is one of these. Whoever starts an
// operation with a tag keeps the tag alive until its event.
//
// The queue's hand-over between threads happens inside gRPC, where
// ThreadSanitizer cannot see it: an object locks a mutex of its own around
// starting an operation and at its event.
class CompletionTag {
 public:
  // Once for each operation, on a thread of the queue. `ok`: see gRPC.
  virtual void OnEvent(bool ok) = 0;

 protected:
  ~CompletionTag() = default;
};

// Handles events until the queue is shut down and empty.
inline void RunCompletionQueue(grpc::CompletionQueue* queue) {
  void* tag;
  bool ok;
  while (queue->Next(&tag, &ok)) static_cast<CompletionTag*>(tag)->OnEvent(ok);
}

}  // namespace shoal

#endif  // SHOAL_RPC_TRANSPORT_COMPLETION_TAG_H_
