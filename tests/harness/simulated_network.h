#ifndef SHOAL_TESTS_HARNESS_SIMULATED_NETWORK_H_
#define SHOAL_TESTS_HARNESS_SIMULATED_NETWORK_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/any_invocable.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/cluster_service.h"
#include "core/parameter_service.h"
#include "tests/harness/keyed_draw.h"
#include "tests/harness/simulated_executor.h"
#include "tests/harness/simulated_process.h"
#include "wire/codec/chunk_assembler.h"

namespace shoal {

// What befalls messages. Chances are of each message on its own.
struct NetworkFaults {
  absl::Duration min_delay = absl::Microseconds(50);
  absl::Duration max_delay = absl::Milliseconds(5);
  absl::Duration push_delay;  // a push takes up to so much longer
  double drop = 0;            // a request or a reply never arrives
  double duplicate = 0;       // a push arrives a second time, at its own time
  // A push of more bytes travels in chunks of so many; 0: none does.
  uint64_t chunk_bytes = 0;
};

// What was done to a job's messages: for tests to compare with its counters.
struct NetworkCounts {
  uint64_t dropped = 0;
  uint64_t duplicated = 0;
  uint64_t chunks = 0;         // sent, of pushes in chunks
  uint64_t refused = 0;        // calls to an address where no process listens
  uint64_t registrations = 0;  // granted
  uint64_t broken = 0;         // connections of sessions, by Break
};

// What listens at an address: a start of a process.
struct SimulatedServer {
  SimulatedProcess* process = nullptr;
  SimulatedExecutor* executor = nullptr;  // on which requests arrive
  std::shared_ptr<ParameterService> parameters;  // null: none attached yet
  ClusterService* cluster = nullptr;
  ChunkAssembler assembler{ChunkAssemblerOptions{}};
  // Called with the verdict on each push and the job that its sender took part
  // in (SimulatedCalls); may be null.
  std::function<void(const std::string& origin, const PushRequest&,
                     const absl::StatusOr<PushReply>&)>
      on_push;
};

// One connection of a session; `cut` ends it for both sides, once.
struct SimulatedConnection {
  SimulatedProcess* client = nullptr;
  SimulatedProcess* server = nullptr;
  bool over = false;
  // `heard`: the client is told, UNAVAILABLE; the server always is, unless it
  // is dead.
  std::function<void(bool heard)> cut;
};

// Joins simulated processes over their seams as gRPC joins real ones
// (simulated_calls.h, simulated_sessions.h): calls are delayed, overtaken, lost
// and repeated, and are served by the process that listens at their address
// when they arrive, an earlier one's too; a session's connection keeps its
// order and ends with either of its processes. Belongs to the simulator's
// thread.
class SimulatedNetwork {
 public:
  // What befalls a message is a function of `seed`, the link that it travels,
  // what it is about, and how often that was sent before.
  SimulatedNetwork(Simulator* simulator, uint64_t seed, NetworkFaults faults);

  // From now on requests to `address` are the process's; to a dead one's
  // successor too. They arrive on its strand "rpc".
  SimulatedServer* Listen(const std::string& address,
                          SimulatedProcess* process);
  // Whether connections to `address` are refused, as where a host runs and no
  // process listens.
  bool Refuses(const std::string& address) const {
    return servers_.count(address) == 0 && dark_.count(address) == 0;
  }

  // SIGKILL, or an exit: nothing of the process runs any more, its sessions
  // end, it does not listen. `silently`: the other ends hear nothing of it, as
  // when the host has lost its power.
  void Kill(SimulatedProcess* process, bool silently = false);
  // The connections of the process's sessions break: what is on its way over
  // them is lost, either way, and both ends hear so a moment later.
  void Break(SimulatedProcess* process);

  // Called with each message's number (a hash of what it is) and its delay,
  // InfiniteDuration where it is lost.
  void Observe(std::function<void(uint64_t message, absl::Duration)> observer) {
    observer_ = std::move(observer);
  }
  const NetworkCounts& counts() const { return counts_; }

  // ---- For the services over it.

  struct Message {
    uint64_t link = 0;  // LinkOf
    absl::string_view kind;
    uint64_t subject = 0;  // what of this kind it is
    bool may_drop = false;
    absl::Duration late;  // how much longer it may take than others
  };
  static uint64_t LinkOf(absl::string_view from, absl::string_view to);
  // How long it takes; InfiniteDuration: it is lost.
  absl::Duration Fate(const Message& message);
  // Whether it arrives a second time.
  bool Repeats(const Message& message);

  // Runs `task` after `delay`, on the strand of who listens at `address` then;
  // `refused`, if there is one, where no process does.
  using Served = absl::AnyInvocable<void(SimulatedServer*) &&>;
  void Deliver(const std::string& address, absl::Duration delay, Served task,
               Task refused = nullptr);
  // Who listens there; null: no process.
  std::shared_ptr<SimulatedServer> ServerAt(const std::string& address) const;
  void Add(std::shared_ptr<SimulatedConnection> connection) {
    connections_.push_back(std::move(connection));
  }

  const NetworkFaults& faults() const { return faults_; }
  NetworkCounts* mutable_counts() { return &counts_; }
  // Grows: tells uploads of one batch apart.
  uint64_t NextUpload() { return ++uploads_; }

 private:
  // The same each time that the same is sent for the n-th time.
  KeyedDraw DrawOf(const Message& message, absl::string_view what);
  void Cut(bool heard,
           const std::function<bool(const SimulatedConnection&)>& which);

  const KeyedDraw draw_;
  const NetworkFaults faults_;
  SimulatedExecutor wires_;
  NetworkCounts counts_;
  uint64_t uploads_ = 0;
  absl::flat_hash_map<uint64_t, uint32_t> sent_;  // by what was sent
  std::map<std::string, std::shared_ptr<SimulatedServer>> servers_;
  std::set<std::string> dark_;  // addresses whose host answers nothing
  std::vector<std::shared_ptr<SimulatedConnection>> connections_;
  std::function<void(uint64_t, absl::Duration)> observer_;
};

}  // namespace shoal

#endif  // SHOAL_TESTS_HARNESS_SIMULATED_NETWORK_H_
