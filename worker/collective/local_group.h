#ifndef SHOAL_WORKER_COLLECTIVE_LOCAL_GROUP_H_
#define SHOAL_WORKER_COLLECTIVE_LOCAL_GROUP_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "base/executor.h"
#include "base/mutex.h"
#include "core/collective.h"
#include "core/collective_operation.h"
#include "worker/collective/local_collective.h"

namespace shoal {

// One rank's call of one operation, with the memory that it is about.
struct LocalCall {
  CollectiveOperation operation;
  absl::Span<float> values;      // AllReduce
  absl::Span<const char> given;  // AllGather
  GatheredParts* parts = nullptr;
  absl::Span<char> bytes;  // Broadcast
  Done<CollectiveReply> done;
  uint64_t number = 0;  // of the rank's calls, from 0; set by Submit
};

// What the LocalCollectives of one process share: the calls of each rank that
// wait for the other ranks. Thread-safe.
class LocalGroup : public std::enable_shared_from_this<LocalGroup> {
 public:
  LocalGroup(const LocalCollectiveOptions& options,
             absl::Span<Executor* const> executors);

  int size() const { return static_cast<int>(executors_.size()); }
  uint64_t generation() const { return options_.generation; }

  // Takes a call, and does the work of all operations that every rank has
  // called.
  void Submit(int rank, LocalCall call, absl::Duration timeout);

  // Ends the rank's calls, and those of other ranks that wait for it. Returns
  // when no thread touches the rank's memory.
  void Leave(int rank);

 private:
  struct Rank {
    uint64_t called = 0;  // calls so far
    std::deque<LocalCall> queue;
  };

  // Does the work of the operations that every rank has called, unless another
  // thread is about it.
  void Work();
  // Takes the next operation that every rank has called, in the order of the
  // ranks; empty if there is none.
  std::vector<LocalCall> TakeRound() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::Status Perform(absl::Span<LocalCall> round) const;
  // Ends a call that is still queued, and so the group.
  void OnDeadline(int rank, uint64_t number);
  // Ends all calls and all later ones.
  void End(const absl::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // The ranks that have not called operation `number`: "ranks 1 and 2".
  std::string Missing(uint64_t number) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Complete(int rank, LocalCall call, const absl::Status& status) const;

  const LocalCollectiveOptions options_;
  const std::vector<Executor*> executors_;  // by rank
  Mutex mu_;
  CondVar idle_;
  bool working_ ABSL_GUARDED_BY(mu_) = false;
  absl::Status ended_ ABSL_GUARDED_BY(mu_);
  std::vector<Rank> ranks_ ABSL_GUARDED_BY(mu_);
};

}  // namespace shoal

#endif  // SHOAL_WORKER_COLLECTIVE_LOCAL_GROUP_H_
