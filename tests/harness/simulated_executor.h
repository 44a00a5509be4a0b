#ifndef SHOAL_TESTS_HARNESS_SIMULATED_EXECUTOR_H_
#define SHOAL_TESTS_HARNESS_SIMULATED_EXECUTOR_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/executor.h"
#include "tests/harness/keyed_draw.h"

namespace shoal {

class SimulatedExecutor;

// The time of a simulator, which moves only while the simulator runs. Owned by
// the simulator.
class SimulatedClock final : public Clock {
 public:
  absl::Time Now() const override { return now_; }

 private:
  friend class Simulator;
  absl::Time now_ = absl::FromUnixSeconds(1'000'000'000);
};

// One virtual time and the tasks of all executors that share it. A whole
// cluster runs on the thread that calls Run…, in the same way every time.
// Nothing waits: the time jumps to the next task that is due.
//
// Everything here and every SimulatedExecutor belongs to one thread. A Run…
// call must not be made from within a task.
class Simulator {
 public:
  // Tasks that are due at the same time run in the order in which they were
  // posted. With a seed, the order among tasks of different executors that are
  // due at the same time is random instead: a function of the seed, the time
  // and the executors' names. Tasks of one executor keep their order.
  explicit Simulator(std::optional<uint64_t> seed = std::nullopt);
  // REQUIRES: every executor of this simulator is destroyed or killed.
  ~Simulator();
  Simulator(const Simulator&) = delete;
  Simulator& operator=(const Simulator&) = delete;

  const Clock* clock() const { return &clock_; }
  absl::Time Now() const { return clock_.now_; }

  // Runs the next task and moves the time to it. False: there is no task.
  bool RunOne();
  // Runs until no task is pending, however late it is due, or until max_tasks
  // tasks ran (periodic timers never end: see pending()). Returns the number of
  // tasks that ran.
  size_t RunUntilIdle(size_t max_tasks = 1'000'000);
  // Runs the tasks that are due by `until`; then the time is `until`. Returns
  // the number of tasks that ran.
  size_t RunUntil(absl::Time until);
  size_t RunFor(absl::Duration span) { return RunUntil(Now() + span); }
  // Runs until `done` returns true, at the start or after a task. Returns true
  // then. Returns false if no task is left that is due by `deadline`; then the
  // time is `deadline`.
  bool RunUntil(absl::FunctionRef<bool()> done, absl::Time deadline);

  // The number of tasks that wait on all executors, and when the first is due
  // (InfiniteFuture: no task waits).
  size_t pending() const;
  absl::Time NextDue() const;

 private:
  friend class SimulatedExecutor;

  // The executor whose first task runs next; nullptr if all are empty.
  SimulatedExecutor* Next();
  // Among the first tasks of executors that are due at the same time, the task
  // of the lowest rank runs next.
  uint64_t Rank(const SimulatedExecutor& executor, absl::Time due) const;

  SimulatedClock clock_;
  const std::optional<KeyedDraw> draw_;
  uint64_t next_number_ = 0;                   // of tasks, over all executors
  uint64_t executors_made_ = 0;
  std::vector<SimulatedExecutor*> executors_;  // alive, by construction
};

// One strand of a simulated process. Tasks never run inside Post.
class SimulatedExecutor final : public Executor {
 public:
  // `simulator` must outlive the executor. `name` identifies the executor in
  // the simulator. Empty: the number of executors made before is the name.
  explicit SimulatedExecutor(Simulator* simulator, absl::string_view name = "");
  // Destroys pending tasks without running them.
  ~SimulatedExecutor() override;
  SimulatedExecutor(const SimulatedExecutor&) = delete;
  SimulatedExecutor& operator=(const SimulatedExecutor&) = delete;

  void Post(Task task) override;
  // A time in the past counts as now: the task queues behind those posted
  // before.
  void PostAt(absl::Time when, Task task) override;
  absl::Time Now() const override { return simulator_->Now(); }

  // Lets the strand stand still: tasks that are due within `span` run after it,
  // in order. If the strand stands still already, the later end counts.
  void Freeze(absl::Duration span) {
    frozen_until_ = std::max(frozen_until_, Now() + span);
  }

  // The process crashes: pending tasks are destroyed without being run, and
  // later tasks are dropped. May be called from within a task, also of this
  // executor.
  void Kill();
  bool killed() const { return killed_; }

  size_t pending() const { return tasks_.size(); }

 private:
  friend class Simulator;

  // When its first task runs. REQUIRES: it has one.
  absl::Time NextDue() const {
    SHOAL_DCHECK(!tasks_.empty());
    return std::max(tasks_.begin()->first.first, frozen_until_);
  }

  Simulator* const simulator_;
  const uint64_t name_;  // its hash
  bool killed_ = false;
  // The number of tasks that ran at the newest time at which a task ran.
  absl::Time ran_at_ = absl::InfinitePast();
  uint64_t ran_ = 0;
  absl::Time frozen_until_ = absl::InfinitePast();
  // Keyed by time, then by order of posting over all executors.
  std::map<std::pair<absl::Time, uint64_t>, Task> tasks_;
};

}  // namespace shoal

#endif  // SHOAL_TESTS_HARNESS_SIMULATED_EXECUTOR_H_
