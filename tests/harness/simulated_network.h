#ifndef SHOAL_TESTS_HARNESS_SIMULATED_NETWORK_H_
#define SHOAL_TESTS_HARNESS_SIMULATED_NETWORK_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/time/time.h"
#include "core/cluster_service.h"
#include "core/parameter_service.h"
#include "tests/harness/simulated_executor.h"

namespace shoal {

// What befalls messages. Chances are of each message on its own.
struct NetworkFaults {
  absl::Duration min_delay = absl::Microseconds(50);
  absl::Duration max_delay = absl::Milliseconds(5);
  absl::Duration push_delay;  // a push takes up to so much longer
  double drop = 0;            // a request or a reply never arrives
  double duplicate = 0;       // a push arrives a second time, at its own time
};

// What was done to a job's messages: for tests to compare with its counters.
struct NetworkCounts {
  uint64_t dropped = 0;
  uint64_t duplicated = 0;
  uint64_t registrations = 0;  // granted
  uint64_t broken = 0;         // connections of sessions, by Break
};

// Joins simulated processes over their seams as gRPC joins real ones: calls are
// copied, delayed, overtaken, lost and repeated; a session's connection keeps
// its order and ends when its process is killed. Belongs to the simulator's
// thread.
class SimulatedNetwork {
 public:
  // Draws are a function of `seed`.
  SimulatedNetwork(uint64_t seed, NetworkFaults faults);

  // `server` as a process on `client` reaches it. The executors outlive every
  // call.
  std::shared_ptr<ParameterService> Connect(
      std::shared_ptr<ParameterService> server, SimulatedExecutor* server_at,
      SimulatedExecutor* client);
  std::unique_ptr<ClusterService> Connect(ClusterService* server,
                                          SimulatedExecutor* server_at,
                                          SimulatedExecutor* client);

  // SIGKILL: nothing of the process runs any more, and its sessions end.
  void Kill(SimulatedExecutor* process);
  // The connections of the process's sessions break: what is on its way over
  // them is lost, either way, and both ends hear so a moment later.
  void Break(SimulatedExecutor* process);

  const NetworkCounts& counts() const { return counts_; }

 private:
  class ParameterLink;
  class ClusterLink;
  struct Wire;  // one session's server end

  absl::Duration DrawDelay();
  absl::Duration DrawPushDelay();
  bool Draw(double chance);

  const uint64_t seed_;
  const NetworkFaults faults_;
  uint64_t draws_ = 0;
  NetworkCounts counts_;
  std::vector<std::shared_ptr<Wire>> wires_;
};

}  // namespace shoal

#endif  // SHOAL_TESTS_HARNESS_SIMULATED_NETWORK_H_
