#ifndef SHOAL_BASE_EXECUTOR_H_
#define SHOAL_BASE_EXECUTOR_H_

#include "absl/functional/any_invocable.h"
#include "absl/time/time.h"

namespace shoal {

using Task = absl::AnyInvocable<void() &&>;

// SEAM: runs the tasks and callbacks of components. Implementations: threads
// (thread_executor.h), and the simulator's single-threaded executor
// (tests/harness). Completions are posted to an executor and never called
// inline, so a callback never runs under its caller's lock.
//
// Thread-safe. Tasks of one thread run in the order in which they were posted.
// A task that is posted after the executor was shut down is destroyed without
// being run.
class Executor {
 public:
  virtual ~Executor() = default;

  // Runs `task` soon, never inside this call.
  virtual void Post(Task task) = 0;

  // Runs `task` at `when` or soon after it. A task cannot be cancelled: it must
  // itself find out that it is no longer needed.
  virtual void PostAt(absl::Time when, Task task) = 0;

  // The time of the clock that PostAt uses.
  virtual absl::Time Now() const = 0;

  void PostAfter(absl::Duration delay, Task task) {
    PostAt(Now() + delay, std::move(task));
  }
};

}  // namespace shoal

#endif  // SHOAL_BASE_EXECUTOR_H_
