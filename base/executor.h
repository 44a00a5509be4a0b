#ifndef SHOAL_BASE_EXECUTOR_H_
#define SHOAL_BASE_EXECUTOR_H_

#include "absl/functional/any_invocable.h"
#include "absl/time/time.h"

namespace shoal {

using Task = absl::AnyInvocable<void() &&>;

// SEAM: threads (thread_executor.h) and the simulator's single-threaded one
// (tests/harness). Where components run their callbacks: completions are
// posted here, never called inline, so no caller meets its own lock again.
//
// Thread-safe. Tasks of one thread run in the order in which they were posted.
// A task posted after the executor was shut down is destroyed unrun.
class Executor {
 public:
  virtual ~Executor() = default;

  // Runs `task` soon, never inside this call.
  virtual void Post(Task task) = 0;

  // Runs `task` at `when` or soon after it. There is no cancel: a task whose
  // reason has gone must find that out for itself.
  virtual void PostAt(absl::Time when, Task task) = 0;

  // The clock that PostAt goes by.
  virtual absl::Time Now() const = 0;

  void PostAfter(absl::Duration delay, Task task) {
    PostAt(Now() + delay, std::move(task));
  }
};

}  // namespace shoal

#endif  // SHOAL_BASE_EXECUTOR_H_
