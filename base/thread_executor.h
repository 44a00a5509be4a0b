#ifndef SHOAL_BASE_THREAD_EXECUTOR_H_
#define SHOAL_BASE_THREAD_EXECUTOR_H_

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/executor.h"
#include "base/mutex.h"

namespace shoal {

struct ThreadExecutorOptions {
  // Name of the threads in debuggers and in `top -H`. Only the first 15 bytes
  // are used.
  std::string name = "executor";
  // Number of threads. With 1 thread the executor is a strand: tasks never
  // overlap.
  int threads = 1;
};

// An executor with its own threads. The destructor runs the tasks that were
// posted before it, drops timers that are not yet due, and joins the threads.
// The destructor must not run on one of these threads.
class ThreadExecutor final : public Executor {
 public:
  // `clock` must outlive the executor.
  ThreadExecutor(ThreadExecutorOptions options, const Clock* clock);
  ~ThreadExecutor() override;

  void Post(Task task) override;
  void PostAt(absl::Time when, Task task) override;
  absl::Time Now() const override { return clock_->Now(); }

  // Does the work of the destructor early. Idempotent.
  void Shutdown();

  // Waits until no task is queued or running; timers that are not yet due do
  // not count. Returns false if `timeout` passes first.
  bool WaitUntilIdle(absl::Duration timeout);

 private:
  void Run();

  const Clock* const clock_;
  Mutex mu_;
  CondVar wake_;
  CondVar idle_;
  int running_ ABSL_GUARDED_BY(mu_) = 0;  // tasks
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  std::deque<Task> ready_ ABSL_GUARDED_BY(mu_);
  // Keyed by time and then by order of posting.
  std::map<std::pair<absl::Time, uint64_t>, Task> timers_ ABSL_GUARDED_BY(mu_);
  uint64_t next_timer_ ABSL_GUARDED_BY(mu_) = 0;
  std::vector<std::thread> threads_;
};

}  // namespace shoal

#endif  // SHOAL_BASE_THREAD_EXECUTOR_H_
