#include "tests/harness/simulated_executor.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/stable_hash.h"

namespace shoal {
namespace {

std::optional<KeyedDraw> DrawOf(std::optional<uint64_t> seed) {
  if (!seed.has_value()) return std::nullopt;
  return KeyedDraw(*seed).Of("order");
}

}  // namespace

Simulator::Simulator(std::optional<uint64_t> seed) : draw_(DrawOf(seed)) {}

Simulator::~Simulator() { SHOAL_DCHECK(executors_.empty()); }

uint64_t Simulator::Rank(const SimulatedExecutor& executor,
                         absl::Time due) const {
  if (!draw_.has_value()) return executor.tasks_.begin()->first.second;
  // A new rank after each task, or one executor would go first all the time.
  const uint64_t ran = executor.ran_at_ == due ? executor.ran_ : 0;
  return draw_->Word(absl::ToUnixNanos(due), executor.name_, ran);
}

SimulatedExecutor* Simulator::Next() {
  SimulatedExecutor* next = nullptr;
  absl::Time first = absl::InfiniteFuture();
  for (SimulatedExecutor* executor : executors_) {
    if (executor->tasks_.empty()) continue;
    const absl::Time due = executor->NextDue();
    if (next == nullptr || due < first ||
        (due == first && Rank(*executor, due) < Rank(*next, due))) {
      next = executor;
      first = due;
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
  if (executor->ran_at_ != clock_.now_) executor->ran_ = 0;
  executor->ran_at_ = clock_.now_;
  ++executor->ran_;
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

SimulatedExecutor::SimulatedExecutor(Simulator* simulator,
                                     absl::string_view name)
    : simulator_(simulator),
      name_(name.empty() ? simulator->executors_made_ : StableHash(name)) {
  ++simulator_->executors_made_;
  simulator_->executors_.push_back(this);
}

SimulatedExecutor::~SimulatedExecutor() { Kill(); }

void SimulatedExecutor::Post(Task task) { PostAt(Now(), std::move(task)); }

void SimulatedExecutor::PostAt(absl::Time when, Task task) {
  if (killed_) return;
  const std::pair key(std::max(when, Now()), simulator_->next_number_++);
  tasks_.emplace(key, std::move(task));
}

void SimulatedExecutor::Kill() {
  if (std::exchange(killed_, true)) return;
  auto& all = simulator_->executors_;
  all.erase(std::find(all.begin(), all.end(), this));
  // What a task owns may post again as it is destroyed: empty the queue first.
  const auto dying = std::exchange(tasks_, {});
}

}  // namespace shoal
