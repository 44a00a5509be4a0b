#ifndef SHOAL_TESTS_HARNESS_SIMULATED_PROCESS_H_
#define SHOAL_TESTS_HARNESS_SIMULATED_PROCESS_H_

#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "tests/harness/simulated_executor.h"

namespace shoal {

// One start of a simulated process: its strands, which stand still and die
// together. A process that comes back is another object of the same name,
// composed anew; only the files on its disk are as before.
//
// The objects that are composed on a process are destroyed before it. A killed
// process stays until the simulation ends, since other objects still hold its
// executors.
class SimulatedProcess {
 public:
  // `name` is the role's, such as "ps 0"; `start` counts the starts of this
  // name from 1.
  SimulatedProcess(Simulator* simulator, std::string name, int start)
      : simulator_(simulator),
        name_(std::move(name)),
        id_(absl::StrCat(name_, "/", start)) {}
  SimulatedProcess(const SimulatedProcess&) = delete;
  SimulatedProcess& operator=(const SimulatedProcess&) = delete;

  const std::string& name() const { return name_; }
  // The name of this start: "ps 0/2".
  const std::string& id() const { return id_; }

  // The strand with this name. Made when it is first asked for.
  SimulatedExecutor* Strand(const std::string& strand) {
    std::unique_ptr<SimulatedExecutor>& executor = strands_[strand];
    if (executor == nullptr) {
      executor = std::make_unique<SimulatedExecutor>(
          simulator_, absl::StrCat(id_, " ", strand));
      if (killed_) executor->Kill();
    }
    return executor.get();
  }

  // Lets the whole process stand still for this time.
  void Freeze(absl::Duration span) {
    for (const auto& [strand, executor] : strands_) executor->Freeze(span);
  }
  // Lets one strand stand still, number `which` modulo their number; the other
  // strands go on. Returns the strand's name.
  std::string Stall(uint64_t which, absl::Duration span) {
    if (strands_.empty()) return "";
    auto strand = strands_.begin();
    std::advance(strand, which % strands_.size());
    strand->second->Freeze(span);
    return strand->first;
  }
  // Ends the process: no task of it runs any more.
  void Kill() {
    killed_ = true;
    for (const auto& [strand, executor] : strands_) executor->Kill();
  }
  bool killed() const { return killed_; }

 private:
  Simulator* const simulator_;
  const std::string name_;
  const std::string id_;
  bool killed_ = false;
  std::map<std::string, std::unique_ptr<SimulatedExecutor>> strands_;
};

}  // namespace shoal

#endif  // SHOAL_TESTS_HARNESS_SIMULATED_PROCESS_H_
