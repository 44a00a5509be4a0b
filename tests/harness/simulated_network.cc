#include "tests/harness/simulated_network.h"

#include <algorithm>
#include <utility>

namespace shoal {

SimulatedNetwork::SimulatedNetwork(Simulator* simulator, uint64_t seed,
                                   NetworkFaults faults)
    : draw_(KeyedDraw(seed).Of("network")),
      faults_(faults),
      wires_(simulator, "wires") {}

uint64_t SimulatedNetwork::LinkOf(absl::string_view from,
                                  absl::string_view to) {
  return KeyedDraw(0).Word(from, to);
}

KeyedDraw SimulatedNetwork::DrawOf(const Message& message,
                                   absl::string_view what) {
  const KeyedDraw draw =
      draw_.Of(what, message.link, message.kind, message.subject);
  return draw.Of(sent_[draw.Word()]++);
}

absl::Duration SimulatedNetwork::Fate(const Message& message) {
  const KeyedDraw draw = DrawOf(message, "fate");
  absl::Duration delay =
      faults_.min_delay + draw.Span(faults_.max_delay - faults_.min_delay) +
      draw.Span(message.late, "late");
  if (message.may_drop && draw.Chance(faults_.drop, "drop")) {
    ++counts_.dropped;
    delay = absl::InfiniteDuration();
  }
  if (observer_ != nullptr) observer_(draw.Word("message"), delay);
  return delay;
}

bool SimulatedNetwork::Repeats(const Message& message) {
  const bool repeats =
      DrawOf(message, "repeat").Chance(faults_.duplicate, "duplicate");
  if (repeats) ++counts_.duplicated;
  return repeats;
}

SimulatedServer* SimulatedNetwork::Listen(const std::string& address,
                                          SimulatedProcess* process) {
  auto server = std::make_shared<SimulatedServer>();
  server->process = process;
  server->executor = process->Strand("rpc");
  servers_[address] = server;
  dark_.erase(address);
  return server.get();
}

std::shared_ptr<SimulatedServer> SimulatedNetwork::ServerAt(
    const std::string& address) const {
  const auto found = servers_.find(address);
  return found == servers_.end() ? nullptr : found->second;
}

void SimulatedNetwork::Deliver(const std::string& address, absl::Duration delay,
                               Served task, Task refused) {
  if (delay == absl::InfiniteDuration()) return;
  wires_.PostAfter(delay, [this, address, task = std::move(task),
                           refused = std::move(refused)]() mutable {
    std::shared_ptr<SimulatedServer> server = ServerAt(address);
    if (server == nullptr) {
      if (!Refuses(address)) return;
      ++counts_.refused;
      if (refused != nullptr) std::move(refused)();
      return;
    }
    SimulatedExecutor* const at = server->executor;
    at->Post([server = std::move(server), task = std::move(task)]() mutable {
      std::move(task)(server.get());
    });
  });
}

void SimulatedNetwork::Cut(
    bool heard, const std::function<bool(const SimulatedConnection&)>& which) {
  const auto cut = std::move(connections_);
  connections_.clear();
  for (const std::shared_ptr<SimulatedConnection>& connection : cut) {
    if (connection->over) continue;
    if (which(*connection)) {
      connection->cut(heard);
    } else {
      connections_.push_back(connection);
    }
  }
}

void SimulatedNetwork::Kill(SimulatedProcess* process, bool silently) {
  process->Kill();
  for (auto at = servers_.begin(); at != servers_.end();) {
    if (at->second->process != process) {
      ++at;
      continue;
    }
    if (silently) dark_.insert(at->first);
    at->second->parameters = nullptr;
    at->second->cluster = nullptr;
    at->second->on_push = nullptr;
    at = servers_.erase(at);
  }
  for (const std::shared_ptr<SimulatedConnection>& connection : connections_) {
    const bool its =
        connection->client == process || connection->server == process;
    // Both ends wait for what never comes; each finds out by itself.
    if (its && silently) connection->over = true;
  }
  Cut(/*heard=*/true, [process](const SimulatedConnection& connection) {
    return connection.client == process || connection.server == process;
  });
}

void SimulatedNetwork::Break(SimulatedProcess* process) {
  Cut(/*heard=*/true, [this, process](const SimulatedConnection& connection) {
    const bool its = connection.client == process;
    if (its) ++counts_.broken;
    return its;
  });
}

}  // namespace shoal
