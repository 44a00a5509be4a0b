#include "tests/harness/simulated_network.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "base/stable_hash.h"

namespace shoal {
namespace {

// A request's bulk data as it travels: the sender may reuse its own.
struct Cargo {
  std::vector<std::vector<FeatureId>> ids;
  std::vector<std::vector<float>> rows;
  std::vector<std::vector<float>> blocks;
};

std::shared_ptr<Cargo> Load(const PushRequest& request) {
  auto cargo = std::make_shared<Cargo>();
  for (const TablePush& table : request.tables) {
    cargo->ids.emplace_back(table.ids.begin(), table.ids.end());
    cargo->rows.emplace_back(table.gradients.begin(), table.gradients.end());
  }
  for (const BlockPush& block : request.blocks) {
    cargo->blocks.emplace_back(block.gradients.begin(), block.gradients.end());
  }
  return cargo;
}

std::shared_ptr<Cargo> Load(const PullRequest& request) {
  auto cargo = std::make_shared<Cargo>();
  for (const TablePull& table : request.tables) {
    cargo->ids.emplace_back(table.ids.begin(), table.ids.end());
    cargo->rows.emplace_back(table.values.size());
  }
  for (const BlockPull& block : request.blocks) {
    cargo->blocks.emplace_back(block.values.size());
  }
  return cargo;
}

void PointInto(Cargo* cargo, PushRequest* request) {
  for (size_t i = 0; i < request->tables.size(); ++i) {
    request->tables[i].ids = cargo->ids[i];
    request->tables[i].gradients = cargo->rows[i];
  }
  for (size_t i = 0; i < request->blocks.size(); ++i) {
    request->blocks[i].gradients = cargo->blocks[i];
  }
}

void PointInto(Cargo* cargo, PullRequest* request) {
  for (size_t i = 0; i < request->tables.size(); ++i) {
    request->tables[i].ids = cargo->ids[i];
    request->tables[i].values = absl::MakeSpan(cargo->rows[i]);
  }
  for (size_t i = 0; i < request->blocks.size(); ++i) {
    request->blocks[i].values = absl::MakeSpan(cargo->blocks[i]);
  }
}

void Unload(const Cargo& cargo, const PullRequest& to) {
  for (size_t i = 0; i < to.tables.size(); ++i) {
    std::copy(cargo.rows[i].begin(), cargo.rows[i].end(),
              to.tables[i].values.begin());
  }
  for (size_t i = 0; i < to.blocks.size(); ++i) {
    std::copy(cargo.blocks[i].begin(), cargo.blocks[i].end(),
              to.blocks[i].values.begin());
  }
}

// The caller's end of a call: the first answer, or the deadline, ends it.
template <typename Reply>
struct Waiting {
  Done<Reply> done;
  bool ended = false;

  void End(absl::StatusOr<Reply> reply) {
    if (std::exchange(ended, true)) return;
    std::move(done)(std::move(reply));
  }
};

template <typename Reply>
std::shared_ptr<Waiting<Reply>> Wait(SimulatedExecutor* client,
                                     absl::Duration timeout, Done<Reply> done) {
  auto waiting = std::make_shared<Waiting<Reply>>();
  waiting->done = std::move(done);
  client->PostAfter(timeout, [waiting] {
    waiting->End(absl::DeadlineExceededError("no answer in time"));
  });
  return waiting;
}

}  // namespace

SimulatedNetwork::SimulatedNetwork(uint64_t seed, NetworkFaults faults)
    : seed_(seed), faults_(faults) {}

absl::Duration SimulatedNetwork::DrawDelay() {
  const double unit =
      static_cast<double>(StableHashCombine(seed_, draws_++) >> 11) * 0x1p-53;
  return faults_.min_delay + unit * (faults_.max_delay - faults_.min_delay);
}

absl::Duration SimulatedNetwork::DrawPushDelay() {
  if (faults_.push_delay == absl::ZeroDuration()) return absl::ZeroDuration();
  return static_cast<double>(StableHashCombine(seed_, draws_++) >> 11) *
         0x1p-53 * faults_.push_delay;
}

bool SimulatedNetwork::Draw(double chance) {
  return static_cast<double>(StableHashCombine(seed_, draws_++) >> 11) *
             0x1p-53 <
         chance;
}

// ---- Calls to a shard -------------------------------------------------------

// Kept by its calls, since its caller may drop it while some are in flight.
class SimulatedNetwork::ParameterLink
    : public ParameterService,
      public std::enable_shared_from_this<ParameterLink> {
 public:
  ParameterLink(SimulatedNetwork* network,
                std::shared_ptr<ParameterService> server,
                SimulatedExecutor* server_at, SimulatedExecutor* client)
      : network_(network),
        server_(std::move(server)),
        server_at_(server_at),
        client_(client) {}

  void Pull(PullRequest request, absl::Duration timeout,
            Done<PullReply> done) override {
    auto cargo = Load(request);
    auto waiting = Wait(client_, timeout, std::move(done));
    PullRequest copy = request;
    PointInto(cargo.get(), &copy);
    Send([self = shared_from_this(), cargo, waiting, timeout, copy,
          to = std::move(request)] {
      self->server_->Pull(
          copy, timeout,
          [self, cargo, waiting, to](absl::StatusOr<PullReply> r) {
            self->SendBack([cargo, waiting, to, r] {
              if (waiting->ended) return;
              if (r.ok()) Unload(*cargo, to);
              waiting->End(r);
            });
          });
    });
  }

  void Push(PushRequest request, absl::Duration timeout,
            Done<PushReply> done) override {
    auto cargo = Load(request);
    auto waiting = Wait(client_, timeout, std::move(done));
    PointInto(cargo.get(), &request);
    int copies = 1;
    if (network_->Draw(network_->faults_.duplicate)) {
      ++copies;
      ++network_->counts_.duplicated;
    }
    for (int i = 0; i < copies; ++i) {
      Deliver(
          server_at_,
          [self = shared_from_this(), cargo, waiting, timeout, request] {
            self->server_->Push(
                request, timeout,
                [self, cargo, waiting](absl::StatusOr<PushReply> r) {
                  self->SendBack([waiting, r] { waiting->End(r); });
                });
          },
          network_->DrawPushDelay());
    }
  }

  void Stats(StatsRequest request, absl::Duration timeout,
             Done<StatsReply> done) override {
    auto waiting = Wait(client_, timeout, std::move(done));
    Send([self = shared_from_this(), waiting, timeout, request] {
      self->server_->Stats(request, timeout,
                           [self, waiting](absl::StatusOr<StatsReply> r) {
                             self->SendBack([waiting, r] { waiting->End(r); });
                           });
    });
  }

 private:
  void Deliver(SimulatedExecutor* to, Task task, absl::Duration more = {}) {
    if (network_->Draw(network_->faults_.drop)) {
      ++network_->counts_.dropped;
      return;
    }
    to->PostAfter(network_->DrawDelay() + more, std::move(task));
  }
  void Send(Task task) { Deliver(server_at_, std::move(task)); }
  void SendBack(Task task) { Deliver(client_, std::move(task)); }

  SimulatedNetwork* const network_;
  const std::shared_ptr<ParameterService> server_;
  SimulatedExecutor* const server_at_;
  SimulatedExecutor* const client_;
};

std::shared_ptr<ParameterService> SimulatedNetwork::Connect(
    std::shared_ptr<ParameterService> server, SimulatedExecutor* server_at,
    SimulatedExecutor* client) {
  return std::make_shared<ParameterLink>(this, std::move(server), server_at,
                                         client);
}

// ---- Sessions ---------------------------------------------------------------

struct SimulatedNetwork::Wire {
  SimulatedExecutor* client = nullptr;
  SimulatedExecutor* server_at = nullptr;
  std::unique_ptr<ClusterSession> server_end;
  std::shared_ptr<SessionHandler> client_end;
  bool cut = false;
  absl::Time last_up;  // when the newest message arrives: order is kept
  absl::Time last_down;

  // The connection is gone; the server learns it a moment later.
  void Cut() {
    if (std::exchange(cut, true)) return;
    server_at->PostAfter(
        absl::Milliseconds(1),
        [end = std::move(server_end)]() mutable { end = nullptr; });
  }
};

class SimulatedNetwork::ClusterLink : public ClusterService {
 public:
  ClusterLink(SimulatedNetwork* network, ClusterService* server,
              SimulatedExecutor* server_at, SimulatedExecutor* client)
      : network_(network),
        server_(server),
        server_at_(server_at),
        client_(client) {}

  void Register(RegisterRequest request, absl::Duration timeout,
                Done<RegisterReply> done) override {
    auto waiting = Wait(client_, timeout, std::move(done));
    server_at_->PostAfter(
        network_->DrawDelay(), [this, waiting, timeout, request] {
          server_->Register(
              request, timeout,
              [this, waiting](absl::StatusOr<RegisterReply> reply) {
                network_->counts_.registrations += reply.ok() ? 1 : 0;
                client_->PostAfter(network_->DrawDelay(),
                                   [waiting, reply] { waiting->End(reply); });
              });
        });
  }

  std::unique_ptr<ClusterSession> OpenSession(SessionOpening opening,
                                              SessionHandler handler) override {
    auto wire = std::make_shared<Wire>();
    wire->client = client_;
    wire->server_at = server_at_;
    network_->wires_.push_back(wire);
    auto client_end = std::make_shared<SessionHandler>(std::move(handler));
    wire->client_end = client_end;
    auto down = [this, wire](Task task) {
      wire->last_down =
          std::max(wire->last_down, client_->Now() + network_->DrawDelay());
      client_->PostAt(wire->last_down,
                      [wire, task = std::move(task)]() mutable {
                        if (!wire->cut) std::move(task)();
                      });
    };
    SessionHandler at_server;
    at_server.on_message = [down, client_end](CoordinatorMessage message) {
      down([client_end, message = std::move(message)]() mutable {
        client_end->on_message(std::move(message));
      });
    };
    at_server.on_end = [down, client_end](absl::Status status) {
      down([client_end, status = std::move(status)]() mutable {
        client_end->on_end(std::move(status));
      });
    };
    Up(wire, [this, wire, opening, at = std::move(at_server)]() mutable {
      wire->server_end = server_->OpenSession(opening, std::move(at));
    });
    return std::make_unique<Session>(this, std::move(wire));
  }

 private:
  class Session : public ClusterSession {
   public:
    Session(ClusterLink* link, std::shared_ptr<Wire> wire)
        : link_(link), wire_(std::move(wire)) {}
    ~Session() override { wire_->Cut(); }
    void Send(ProcessMessage message) override {
      link_->Up(wire_, [wire = wire_, message = std::move(message)]() mutable {
        wire->server_end->Send(std::move(message));
      });
    }

   private:
    ClusterLink* const link_;
    const std::shared_ptr<Wire> wire_;
  };

  void Up(const std::shared_ptr<Wire>& wire, Task task) {
    wire->last_up =
        std::max(wire->last_up, server_at_->Now() + network_->DrawDelay());
    server_at_->PostAt(wire->last_up, [wire, task = std::move(task)]() mutable {
      if (!wire->cut) std::move(task)();
    });
  }

  SimulatedNetwork* const network_;
  ClusterService* const server_;
  SimulatedExecutor* const server_at_;
  SimulatedExecutor* const client_;
};

std::unique_ptr<ClusterService> SimulatedNetwork::Connect(
    ClusterService* server, SimulatedExecutor* server_at,
    SimulatedExecutor* client) {
  return std::make_unique<ClusterLink>(this, server, server_at, client);
}

void SimulatedNetwork::Break(SimulatedExecutor* process) {
  for (const std::shared_ptr<Wire>& wire : wires_) {
    if (wire->client != process || wire->cut) continue;
    ++counts_.broken;
    wire->Cut();
    process->PostAfter(absl::Milliseconds(1), [end = wire->client_end] {
      end->on_end(absl::UnavailableError("the connection broke"));
    });
  }
}

void SimulatedNetwork::Kill(SimulatedExecutor* process) {
  process->Kill();
  for (const std::shared_ptr<Wire>& wire : wires_) {
    if (wire->client == process) wire->Cut();
  }
}

}  // namespace shoal
