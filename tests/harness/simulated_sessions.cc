#include "tests/harness/simulated_sessions.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace shoal {
namespace {

// How long after a connection ended either side hears of it.
constexpr absl::Duration kEndHeard = absl::Milliseconds(1);

}  // namespace

class SimulatedSessions::Link : public std::enable_shared_from_this<Link> {
 public:
  Link(SimulatedNetwork* network, SimulatedProcess* from,
       SimulatedExecutor* executor, std::string address)
      : network_(network),
        from_(from),
        executor_(executor),
        address_(std::move(address)),
        link_(SimulatedNetwork::LinkOf(from->id(), address_)) {}

  void Register(RegisterRequest request, absl::Duration timeout,
                Done<RegisterReply> done);
  std::unique_ptr<ClusterSession> Open(SessionOpening opening,
                                       SessionHandler handler);
  const std::string& job() const { return job_; }

 private:
  struct Asked {
    Done<RegisterReply> done;
    bool ended = false;
    void End(absl::StatusOr<RegisterReply> reply) {
      if (std::exchange(ended, true)) return;
      std::move(done)(std::move(reply));
    }
  };
  struct Wire;
  class Session;

  absl::Duration Fate(absl::string_view kind) {
    return network_->Fate({link_, kind});
  }
  void Up(const std::shared_ptr<Wire>& wire, Task task);
  void Down(const std::shared_ptr<Wire>& wire, Task task);

  SimulatedNetwork* const network_;
  SimulatedProcess* const from_;
  SimulatedExecutor* const executor_;
  const std::string address_;
  const uint64_t link_;
  std::string job_;
};

// One connection. Its fields are used on either side.
struct SimulatedSessions::Link::Wire {
  std::shared_ptr<SimulatedConnection> connection;
  SimulatedExecutor* client_at = nullptr;
  std::shared_ptr<SimulatedServer> server;
  std::unique_ptr<ClusterSession> server_end;
  SessionHandler client_end;
  absl::Time last_up = absl::InfinitePast();  // when the newest message arrives
  absl::Time last_down = absl::InfinitePast();

  bool over() const { return connection->over; }
};

class SimulatedSessions::Link::Session final : public ClusterSession {
 public:
  // `wire` may be null: the connection could not be made.
  Session(std::shared_ptr<Link> link, std::shared_ptr<Wire> wire)
      : link_(std::move(link)), wire_(std::move(wire)) {}
  ~Session() override {
    if (wire_ != nullptr && !wire_->over()) wire_->connection->cut(false);
  }
  void Send(ProcessMessage message) override {
    if (wire_ == nullptr) return;
    link_->Up(wire_, [wire = wire_, message = std::move(message)]() mutable {
      wire->server_end->Send(std::move(message));
    });
  }

 private:
  const std::shared_ptr<Link> link_;
  const std::shared_ptr<Wire> wire_;
};

void SimulatedSessions::Link::Register(RegisterRequest request,
                                       absl::Duration timeout,
                                       Done<RegisterReply> done) {
  auto asked = std::make_shared<Asked>();
  asked->done = std::move(done);
  executor_->PostAfter(timeout, [asked] {
    asked->End(absl::DeadlineExceededError("no answer in time"));
  });
  const auto unavailable = [self = shared_from_this(), asked] {
    self->executor_->Post([self, asked] {
      asked->End(absl::UnavailableError(
          absl::StrCat(self->address_, ": connection refused")));
    });
  };
  network_->Deliver(
      address_, Fate("register"),
      [self = shared_from_this(), asked, timeout, unavailable,
       request = std::move(request)](SimulatedServer* server) mutable {
        if (server->cluster == nullptr) return unavailable();
        server->cluster->Register(
            std::move(request), timeout,
            [self, asked, job = server->process->id()](
                absl::StatusOr<RegisterReply> reply) {
              SimulatedNetwork* const network = self->network_;
              network->mutable_counts()->registrations += reply.ok() ? 1 : 0;
              self->executor_->PostAfter(self->Fate("registered"),
                                         [self, asked, job, reply] {
                                           if (asked->ended) return;
                                           if (reply.ok()) self->job_ = job;
                                           asked->End(reply);
                                         });
            });
      },
      unavailable);
}

void SimulatedSessions::Link::Up(const std::shared_ptr<Wire>& wire, Task task) {
  wire->last_up = std::max(wire->last_up, executor_->Now() + Fate("up"));
  wire->server->executor->PostAt(wire->last_up,
                                 [wire, task = std::move(task)]() mutable {
                                   if (!wire->over()) std::move(task)();
                                 });
}

void SimulatedSessions::Link::Down(const std::shared_ptr<Wire>& wire,
                                   Task task) {
  wire->last_down = std::max(wire->last_down, executor_->Now() + Fate("down"));
  executor_->PostAt(wire->last_down, [wire, task = std::move(task)]() mutable {
    if (!wire->over()) std::move(task)();
  });
}

std::unique_ptr<ClusterSession> SimulatedSessions::Link::Open(
    SessionOpening opening, SessionHandler handler) {
  std::shared_ptr<SimulatedServer> server = network_->ServerAt(address_);
  if (server == nullptr || server->cluster == nullptr) {
    executor_->PostAfter(
        Fate("refused"), [on_end = std::move(handler.on_end)]() mutable {
          on_end(absl::UnavailableError("connection refused"));
        });
    return std::make_unique<Session>(shared_from_this(), nullptr);
  }
  auto wire = std::make_shared<Wire>();
  wire->client_at = executor_;
  wire->server = server;
  wire->client_end = std::move(handler);
  wire->connection = std::make_shared<SimulatedConnection>();
  wire->connection->client = from_;
  wire->connection->server = server->process;
  // The connection belongs to the wire: no circle.
  wire->connection->cut = [weak = std::weak_ptr<Wire>(wire)](bool heard) {
    const std::shared_ptr<Wire> wire = weak.lock();
    if (wire == nullptr || std::exchange(wire->connection->over, true)) return;
    wire->server->executor->PostAfter(
        kEndHeard,
        [end = std::move(wire->server_end)]() mutable { end = nullptr; });
    if (!heard) return;
    wire->client_at->PostAfter(kEndHeard, [wire] {
      wire->client_end.on_end(absl::UnavailableError("the connection broke"));
    });
  };
  network_->Add(wire->connection);
  SessionHandler at_server;
  at_server.on_message = [self = shared_from_this(),
                          wire](CoordinatorMessage message) {
    self->Down(wire, [wire, message = std::move(message)]() mutable {
      wire->client_end.on_message(std::move(message));
    });
  };
  at_server.on_end = [self = shared_from_this(), wire](absl::Status status) {
    self->Down(wire, [wire, status = std::move(status)]() mutable {
      wire->client_end.on_end(std::move(status));
    });
  };
  Up(wire, [wire, opening = std::move(opening),
            at_server = std::move(at_server)]() mutable {
    wire->server_end = wire->server->cluster->OpenSession(
        std::move(opening), std::move(at_server));
  });
  return std::make_unique<Session>(shared_from_this(), std::move(wire));
}

SimulatedSessions::SimulatedSessions(SimulatedNetwork* network,
                                     SimulatedProcess* from,
                                     SimulatedExecutor* executor,
                                     std::string address)
    : FakeCluster(executor),
      link_(std::make_shared<Link>(network, from, executor,
                                   std::move(address))) {}

SimulatedSessions::~SimulatedSessions() = default;

void SimulatedSessions::Register(RegisterRequest request,
                                 absl::Duration timeout,
                                 Done<RegisterReply> done) {
  link_->Register(std::move(request), timeout, std::move(done));
}

std::unique_ptr<ClusterSession> SimulatedSessions::OpenSession(
    SessionOpening opening, SessionHandler handler) {
  return link_->Open(std::move(opening), std::move(handler));
}

const std::string& SimulatedSessions::job() const { return link_->job(); }

}  // namespace shoal
