#include "tests/harness/simulated_executor.h"

#include <algorithm>

#include "base/check.h"
#include "base/stable_hash.h"

namespace shoal {

Simulator::Simulator(std::optional<uint64_t> seed) : seed_(seed) {}

Simulator::~Simulator() { SHOAL_DCHECK(executors_.empty()); }

SimulatedExecutor* Simulator::Next() {
  SimulatedExecutor* next = nullptr;
  uint64_t ties = 0;
  for (SimulatedExecutor* executor : executors_) {
    if (executor->tasks_.empty()) continue;
    const absl::Time when = executor->NextDue();
    const uint64_t number = executor->tasks_.begin()->first.second;
    if (next == nullptr || when < next->NextDue()) {
      next = executor;
      ties = 1;
    } else if (when == next->NextDue()) {
      // Each of the executors seen so far stays chosen with equal chance.
      const bool take = seed_.has_value()
                            ? StableHashCombine(*seed_, draws_++) % ++ties == 0
                            : number < next->tasks_.begin()->first.second;
      if (take) next = executor;
    }
  }
  return next;
}

bool Simulator::RunOne() {
  SimulatedExecutor* const executor = Next();
  if (executor == nullptr) return false;
  const auto first = executor->tasks_.begin();
  clock_.now_ = std::max(clock_.now_, executor->NextDue());
  // The task may kill or destroy its executor: it is out of the queue first.
  Task task = std::move(first->second);
  executor->tasks_.erase(first);
  std::move(task)();
  return true;
}

size_t Simulator::RunUntilIdle(size_t max_tasks) {
  size_t ran = 0;
  while (ran < max_tasks && RunOne()) ++ran;
  return ran;
}

size_t Simulator::RunUntil(absl::Time until) {
  size_t ran = 0;
  for (; NextDue() <= until && RunOne(); ++ran) {
  }
  clock_.now_ = std::max(clock_.now_, until);
  return ran;
}

bool Simulator::RunUntil(absl::FunctionRef<bool()> done, absl::Time deadline) {
  while (!done()) {
    if (NextDue() > deadline || !RunOne()) {
      clock_.now_ = std::max(clock_.now_, deadline);
      return false;
    }
  }
  return true;
}

size_t Simulator::pending() const {
  size_t sum = 0;
  for (const SimulatedExecutor* executor : executors_) {
    sum += executor->pending();
  }
  return sum;
}

absl::Time Simulator::NextDue() const {
  absl::Time due = absl::InfiniteFuture();
  for (const SimulatedExecutor* executor : executors_) {
    if (executor->tasks_.empty()) continue;
    due = std::min(due, executor->NextDue());
  }
  return due;
}

SimulatedExecutor::SimulatedExecutor(Simulator* simulator)
    : simulator_(simulator) {
  simulator_->executors_.push_back(this);
}

SimulatedExecutor::~SimulatedExecutor() {
  Kill();
  auto& all = simulator_->executors_;
  all.erase(std::find(all.begin(), all.end(), this));
}

void SimulatedExecutor::Post(Task task) { PostAt(Now(), std::move(task)); }

void SimulatedExecutor::PostAt(absl::Time when, Task task) {
  if (killed_) return;
  const std::pair key(std::max(when, Now()), simulator_->next_number_++);
  tasks_.emplace(key, std::move(task));
}

void SimulatedExecutor::Kill() {
  killed_ = true;
  // What a task owns may post again as it is destroyed: empty the queue first.
  const auto dying = std::exchange(tasks_, {});
}

}  // namespace shoal
