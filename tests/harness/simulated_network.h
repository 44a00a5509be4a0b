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

// The faults of messages. Each probability is for one message.
struct NetworkFaults {
  absl::Duration min_delay = absl::Microseconds(50);
  absl::Duration max_delay = absl::Milliseconds(5);
  absl::Duration push_delay;  // the most by which a push takes longer
  double drop = 0;            // a request or a reply never arrives
  double duplicate = 0;       // a push arrives a second time, at its own time
  // A push of more bytes travels in chunks of this size. 0: no push does.
  uint64_t chunk_bytes = 0;
};

// Counts of the faults of a job's messages, which tests compare with the job's
// counters.
struct NetworkCounts {
  uint64_t dropped = 0;
  uint64_t duplicated = 0;
  uint64_t chunks = 0;         // sent, of pushes in chunks
  uint64_t refused = 0;        // calls to an address where no process listens
  uint64_t registrations = 0;  // granted
  uint64_t broken = 0;         // connections of sessions, by Break
};

// A start of a process that listens at an address.
struct SimulatedServer {
  SimulatedProcess* process = nullptr;
  SimulatedExecutor* executor = nullptr;  // requests arrive on it
  std::shared_ptr<ParameterService> parameters;  // null: none attached yet
  ClusterService* cluster = nullptr;
  ChunkAssembler assembler{ChunkAssemblerOptions{}};
  // Called with the verdict on each push and the job of its sender
  // (SimulatedCalls). May be null.
  std::function<void(const std::string& origin, const PushRequest&,
                     const absl::StatusOr<PushReply>&)>
      on_push;
};

// One connection of a session; `cut` ends it for both sides, once.
struct SimulatedConnection {
  SimulatedProcess* client = nullptr;
  SimulatedProcess* server = nullptr;
  bool over = false;
  // `heard`: the client gets UNAVAILABLE. The server is always told, unless it
  // is dead.
  std::function<void(bool heard)> cut;
};

// Connects simulated processes over their seams, as gRPC connects real
// processes (simulated_calls.h, simulated_sessions.h). Calls are delayed,
// overtaken, lost and repeated. A call is served by the process that listens at
// its address when the call arrives, even if the call was meant for an earlier
// process. The connection of a session keeps its order and ends with either of
// its processes. Belongs to the simulator's thread.
class SimulatedNetwork {
 public:
  // The fault of a message is a function of `seed`, the link, the subject of
  // the message, and how often that subject was sent before.
  SimulatedNetwork(Simulator* simulator, uint64_t seed, NetworkFaults faults);

  // From now on requests to `address` are the process's; to a dead one's
  // successor too. They arrive on its strand "rpc".
  SimulatedServer* Listen(const std::string& address,
                          SimulatedProcess* process);
  // True if connections to `address` are refused, as on a host that runs while
  // no process listens.
  bool Refuses(const std::string& address) const {
    return servers_.count(address) == 0 && dark_.count(address) == 0;
  }

  // SIGKILL, or an exit: no task of the process runs any more, its sessions
  // end, and it does not listen. `silently`: the other ends are not told, as
  // when the host loses its power.
  void Kill(SimulatedProcess* process, bool silently = false);
  // The connections of the process's sessions break. Messages on their way are
  // lost in both directions, and both ends are told a moment later.
  void Break(SimulatedProcess* process);

  // Called with each message's number (a hash of its content) and its delay,
  // InfiniteDuration if the message is lost.
  void Observe(std::function<void(uint64_t message, absl::Duration)> observer) {
    observer_ = std::move(observer);
  }
  const NetworkCounts& counts() const { return counts_; }

  // ---- For the services over it.

  struct Message {
    uint64_t link = 0;  // LinkOf
    absl::string_view kind;
    uint64_t subject = 0;  // the message among those of its kind
    bool may_drop = false;
    absl::Duration late;  // the most by which it takes longer than others
  };
  static uint64_t LinkOf(absl::string_view from, absl::string_view to);
  // The delay of the message; InfiniteDuration: the message is lost.
  absl::Duration Fate(const Message& message);
  // True if the message arrives a second time.
  bool Repeats(const Message& message);

  // Runs `task` after `delay`, on the strand of the process that listens at
  // `address` then. If no process listens, runs `refused`, if it is given.
  using Served = absl::AnyInvocable<void(SimulatedServer*) &&>;
  void Deliver(const std::string& address, absl::Duration delay, Served task,
               Task refused = nullptr);
  // The process that listens there; null: no process.
  std::shared_ptr<SimulatedServer> ServerAt(const std::string& address) const;
  void Add(std::shared_ptr<SimulatedConnection> connection) {
    connections_.push_back(std::move(connection));
  }

  const NetworkFaults& faults() const { return faults_; }
  NetworkCounts* mutable_counts() { return &counts_; }
  // Grows: tells uploads of one batch apart.
  uint64_t NextUpload() { return ++uploads_; }

 private:
  // Equal whenever equal content is sent for the n-th time.
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
