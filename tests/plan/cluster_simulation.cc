#include "tests/plan/cluster_simulation.h"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "tests/plan/simulated_host.h"

namespace shoal {
namespace {

constexpr int kChunks = 4;  // of what ranks gather

struct Host {
  Host(EventQueue* events, double cores, int workers)
      : cores(events, cores), server(&this->cores) {
    for (int i = 0; i < workers; ++i) {
      trains.emplace_back(&this->cores);
      receives.emplace_back(&this->cores);
    }
  }

  Link out;
  Link in;
  SharedCores cores;
  SimulatedThread server;
  std::deque<SimulatedThread> trains;    // by worker of the host
  std::deque<SimulatedThread> receives;  // likewise
};

// Runs `done` when it was called `count` times.
std::function<void()> AfterAll(int count, std::function<void()> done) {
  auto left = std::make_shared<int>(count);
  return [left, done = std::move(done)] {
    if (--*left == 0) done();
  };
}

class Simulation {
 public:
  Simulation(const ModeShape& mode, const StepDemand& demand,
             const SimulatedCluster& cluster)
      : mode_(mode),
        demand_(demand),
        cluster_(cluster),
        depth_(mode.pipelined ? cluster.pipeline_depth : 0),
        random_(cluster.seed),
        wire_(&events_, cluster.hosts.bits_per_second,
              cluster.hosts.latency_seconds) {
    const int w = cluster.workers_per_host;
    for (int i = 0; i < cluster.hosts.hosts; ++i) {
      hosts_.push_back(
          std::make_unique<Host>(&events_, cluster.hosts.cores, w));
    }
    workers_.resize(static_cast<size_t>(cluster.hosts.hosts) * w);
    for (Worker& worker : workers_) {
      worker.pushes.resize(hosts_.size());
      worker.requests.resize(hosts_.size());
    }
  }

  SimulatedRun Run() {
    const int warm = std::max(1, cluster_.steps / 10);
    for (int i = 0; i < Workers(); ++i) {
      // Workers begin apart, as those of a running job are.
      const double delay =
          mode_.waits == ModeShape::Waits::kStep ? 0 : Draw() * Busy(1);
      events_.After(delay, [this, i] { Pump(i); });
    }
    const auto all_have = [this](int steps) {
      return std::all_of(workers_.begin(), workers_.end(),
                         [&](const auto& w) { return w.ended >= steps; });
    };
    // The window is one of time, over all workers.
    while (!all_have(warm) && events_.RunNext()) {
    }
    const double begin = events_.now();
    const auto [steps, busy] = Totals();
    while (!all_have(warm + cluster_.steps) && events_.RunNext()) {
    }
    const auto [last_steps, last_busy] = Totals();
    const double time = (events_.now() - begin) * Workers();
    SimulatedRun run;
    run.step_seconds = time / (last_steps - steps);
    run.wait_seconds = (time - (last_busy - busy)) / (last_steps - steps);
    return run;
  }

 private:
  struct Worker {
    int begun = 0;  // steps pulled, or being pulled, and not computed yet
    int pulled = 0;
    int exchanges = 0;
    bool computing = false;
    int started = 0;  // steps whose pull has begun
    int ended = 0;
    double busy = 0;  // elapsed
    // Rings: what the present round lacks.
    int round_left = 0;
    // By server: pushes on their way to it, and requests that are behind them
    // on the same connection.
    std::vector<int> pushes;
    std::vector<std::vector<std::function<void()>>> requests;
  };

  int Workers() const { return static_cast<int>(workers_.size()); }
  int Hosts() const { return static_cast<int>(hosts_.size()); }
  Host& HostOf(int worker) {
    return *hosts_[worker / cluster_.workers_per_host];
  }
  SimulatedThread* TrainOf(int worker) {
    return &HostOf(worker).trains[worker % cluster_.workers_per_host];
  }
  SimulatedThread* ReceiveOf(int worker) {
    return &HostOf(worker).receives[worker % cluster_.workers_per_host];
  }
  double Draw() { return std::uniform_real_distribution<>(0, 1)(random_); }
  double Busy(double factor) const {
    return demand_.compute * factor + demand_.push_worker;
  }
  std::pair<double, double> Totals() const {
    double steps = 0;
    double busy = 0;
    for (const Worker& worker : workers_) {
      steps += worker.ended;
      busy += worker.busy;
    }
    return {steps, busy};
  }

  void Send(int from, int to, double bytes, std::function<void()> arrived) {
    if (from == to) return events_.After(0, std::move(arrived));
    wire_.Send(bytes, &hosts_[from]->out, &hosts_[to]->in, std::move(arrived));
  }

  void SendShort(int from, int to, double bytes,
                 std::function<void()> arrived) {
    if (from == to) return events_.After(0, std::move(arrived));
    wire_.SendShort(bytes, &hosts_[from]->out, &hosts_[to]->in,
                    std::move(arrived));
  }

  // The own host's server first, and the others after it in their order: so
  // that workers which send at one time do not all send to one server.
  std::vector<int> ServersFrom(int home) const {
    std::vector<int> order(hosts_.size());
    for (size_t i = 0; i < order.size(); ++i) {
      order[i] = static_cast<int>((home + i) % order.size());
    }
    return order;
  }

  bool PaceAllows(const Worker& worker) const {
    if (mode_.waits != ModeShape::Waits::kBound) return true;
    int least = worker.ended;
    for (const Worker& other : workers_) least = std::min(least, other.ended);
    return worker.started <= least + cluster_.ssp_bound + depth_;
  }

  // What a worker may do now (StepPipeline).
  void Pump(int i) {
    Worker& worker = workers_[i];
    if (worker.computing) return;
    if (worker.begun < std::max(depth_, 1) && worker.exchanges <= depth_ &&
        PaceAllows(worker)) {
      ++worker.begun;
      ++worker.started;
      Pull(i);
    }
    if (worker.pulled > 0 && worker.exchanges <= depth_) {
      --worker.begun;
      --worker.pulled;
      worker.computing = true;
      Compute(i);
    }
  }

  void Pull(int i) {
    const auto done = [this, i] {
      ++workers_[i].pulled;
      Pump(i);
    };
    if (!mode_.servers()) return events_.After(0, done);
    const int home = i / cluster_.workers_per_host;
    const int n = Hosts();
    const auto all = AfterAll(n, done);
    for (const int s : ServersFrom(home)) {
      SendRequest(i, s, [=, this] {
        hosts_[s]->server.Add(demand_.pull_server / n, [=, this] {
          Send(s, home, demand_.reply_bytes / n,
               [=, this] { ReceiveOf(i)->Add(demand_.pull_worker / n, all); });
        });
      });
    }
  }

  // The request of a pull, which comes after the worker's pushes to the server.
  void SendRequest(int i, int server, std::function<void()> arrived) {
    if (workers_[i].pushes[server] > 0) {
      workers_[i].requests[server].push_back(std::move(arrived));
      return;
    }
    SendShort(i / cluster_.workers_per_host, server,
              demand_.request_bytes / Hosts(), std::move(arrived));
  }

  // Sends a worker's push to all servers. The parts share the link, since each
  // server has a connection of its own. Runs arrived(server).
  void SendPush(int i, const std::function<void(int)>& arrived) {
    const int home = i / cluster_.workers_per_host;
    std::vector<Wire::Part> parts;
    for (const int s : ServersFrom(home)) {
      ++workers_[i].pushes[s];
      auto here = [this, i, s, arrived] {
        arrived(s);
        if (--workers_[i].pushes[s] > 0) return;
        for (const auto& request :
             std::exchange(workers_[i].requests[s], {})) {
          request();
        }
      };
      if (s == home) {
        events_.After(0, std::move(here));
      } else {
        parts.push_back({demand_.push_bytes / Hosts(), &hosts_[s]->in,
                         std::move(here)});
      }
    }
    wire_.SendTogether(&hosts_[home]->out, std::move(parts));
  }

  void Compute(int i) {
    const double factor = cluster_.step_times.Quantile(Draw());
    const double begin = events_.now();
    const auto computed = [this, i, begin] {
      Worker& worker = workers_[i];
      worker.busy += events_.now() - begin;
      worker.computing = false;
      ++worker.exchanges;
      if (mode_.ring()) {
        Gather(i);
      } else {
        Push(i);
      }
      Pump(i);
    };
    if (!mode_.ring()) return TrainOf(i)->Add(Busy(factor), computed);
    // Buckets become final one after another, in the last part of the pass.
    if (round_started_++ % Workers() == 0) NewRound();
    workers_[i].round_left = 2;  // the buckets, and what was gathered
    const double compute = demand_.compute * factor;
    TrainOf(i)->Add(compute * (1 - cluster_.final_share), [=, this] {
      NextBucket(i, 0, compute * cluster_.final_share / demand_.buckets,
                 computed);
    });
  }

  void NextBucket(int i, int bucket, double seconds,
                  std::function<void()> computed) {
    if (bucket == demand_.buckets) {
      // Rows are pushed after the ring's decision.
      return computed();
    }
    TrainOf(i)->Add(seconds, [=, this] {
      Ready(i, bucket);
      NextBucket(i, bucket + 1, seconds, computed);
    });
  }

  // One operation of the ring: in each of `hops` phases every rank sends
  // `bytes` to the next one, when it has those of the phase before.
  struct Operation {
    double bytes = 0;
    double core = 0;  // of one message
    int hops = 0;
    std::vector<char> ready;
    std::vector<int> received;  // by rank
    std::vector<int> waiting;   // messages that came before the rank was ready
    std::vector<std::function<void()>> done;
  };

  Operation NewOperation(double bytes, double core, int hops) {
    Operation op;
    op.hops = hops;
    if (hops > 0) {
      op.bytes = bytes / hops;
      op.core = core / hops;
    }
    op.ready.assign(workers_.size(), 0);
    op.received.assign(workers_.size(), 0);
    op.waiting.assign(workers_.size(), 0);
    op.done.resize(workers_.size());
    return op;
  }

  // A rank begins a round only after it has ended the one before, and so have
  // all others by then, but for the last messages of the gathering.
  void NewRound() {
    rounds_.emplace_back();
    for (int b = 0; b < demand_.buckets; ++b) {
      rounds_.back().push_back(std::make_shared<Operation>(NewOperation(
          demand_.reduce_bytes / demand_.buckets,
          demand_.reduce_core / demand_.buckets, demand_.reduce_hops)));
    }
    // A rank passes on a chunk while the next one arrives.
    for (int c = 0; c < kChunks; ++c) {
      rounds_.back().push_back(std::make_shared<Operation>(
          NewOperation(demand_.gather_bytes / kChunks,
                       demand_.gather_core / kChunks, demand_.gather_hops)));
    }
    if (rounds_.size() > 3) rounds_.pop_front();
  }

  void Begin(int i, const std::shared_ptr<Operation>& op,
             std::function<void()> done) {
    op->done[i] = std::move(done);
    op->ready[i] = 1;
    if (op->hops == 0) return op->done[i]();
    SendHop(i, op);
    for (; op->waiting[i] > 0; --op->waiting[i]) Received(i, op);
  }

  void SendHop(int i, const std::shared_ptr<Operation>& op) {
    const int next = (i + 1) % Workers();
    const int from = i / cluster_.workers_per_host;
    const int to = next / cluster_.workers_per_host;
    Send(from, to, op->bytes, [=, this] {
      if (op->ready[next] != 0) {
        Received(next, op);
      } else {
        ++op->waiting[next];
      }
    });
  }

  void Received(int i, const std::shared_ptr<Operation>& op) {
    ReceiveOf(i)->Add(op->core, [=, this] {
      events_.After(cluster_.ring_hop, [=, this] {
        if (++op->received[i] == op->hops) return op->done[i]();
        SendHop(i, op);
      });
    });
  }

  void Ready(int i, int bucket) {
    const auto summed = AfterBuckets(i);
    Begin(i, rounds_.back()[bucket], summed);
  }

  std::function<void()> AfterBuckets(int i) {
    return [this, i] {
      if (++summed_[i] < demand_.buckets) return;
      summed_[i] = 0;
      if (--workers_[i].round_left == 0) AfterRound(i);
    };
  }

  void Gather(int i) {
    if (mode_.servers()) {
      // Rows are pushed when the dense gradient is known, then confirmed.
      if (--workers_[i].round_left == 0) AfterRound(i);
      return;
    }
    GatherAll(i, [this, i] {
      if (--workers_[i].round_left == 0) AfterRound(i);
    });
  }

  void GatherAll(int i, std::function<void()> done) {
    const auto all = AfterAll(kChunks, std::move(done));
    const auto round = rounds_.back();
    for (int c = 0; c < kChunks; ++c) {
      Begin(i, round[demand_.buckets + c], all);
    }
  }

  void AfterRound(int i) {
    if (!mode_.servers()) return Apply(i);
    const double begin = events_.now();
    TrainOf(i)->Add(demand_.push_worker, [this, i, begin] {
      workers_[i].busy += events_.now() - begin;
      PushTo(i, [this, i] { GatherAll(i, [this, i] { Apply(i); }); });
    });
  }

  void Apply(int i) {
    const double begin = events_.now();
    TrainOf(i)->Add(demand_.apply_worker, [this, i, begin] {
      workers_[i].busy += events_.now() - begin;
      Ended(i);
    });
  }

  void PushTo(int i, std::function<void()> applied) {
    const int home = i / cluster_.workers_per_host;
    const int n = Hosts();
    const auto all = AfterAll(n, std::move(applied));
    SendPush(i, [=, this](int s) {
      hosts_[s]->server.Add(demand_.push_server / n,
                            [=, this] { SendShort(s, home, 0, all); });
    });
  }

  void Push(int i) {
    if (mode_.waits != ModeShape::Waits::kStep) {
      return PushTo(i, [this, i] { Ended(i); });
    }
    // The servers park the pushes; the coordinator, on host 0, closes the step.
    SendPush(i, [this](int s) {
      hosts_[s]->server.Add(demand_.push_server / Hosts(),
                            [this] { Parked(); });
    });
  }

  void Parked() {
    if (++parked_ < Workers() * Hosts()) return;
    parked_ = 0;
    for (int s = 0; s < Hosts(); ++s) {
      SendShort(0, s, 0, [this, s] {
        hosts_[s]->server.Add(demand_.apply_server, [this, s] {
          for (int i = 0; i < Workers(); ++i) {
            SendShort(s, i / cluster_.workers_per_host, 0, [this, i] {
              if (++answered_[i] < Hosts()) return;
              answered_[i] = 0;
              Ended(i);
            });
          }
        });
      });
    }
  }

  void Ended(int i) {
    --workers_[i].exchanges;
    ++workers_[i].ended;
    Pump(i);
    if (mode_.waits != ModeShape::Waits::kBound) return;
    // Others may have waited for this worker; the coordinator tells them.
    for (int k = 0; k < Workers(); ++k) {
      if (k == i || PaceAllows(workers_[k])) {
        if (k != i && workers_[k].begun < std::max(depth_, 1)) {
          events_.After(2 * cluster_.hosts.latency_seconds,
                        [this, k] { Pump(k); });
        }
      }
    }
  }

  const ModeShape& mode_;
  const StepDemand& demand_;
  const SimulatedCluster& cluster_;
  const int depth_;
  std::mt19937_64 random_;
  EventQueue events_;
  Wire wire_;
  std::vector<std::unique_ptr<Host>> hosts_;
  std::vector<Worker> workers_;
  std::deque<std::vector<std::shared_ptr<Operation>>> rounds_;
  uint64_t round_started_ = 0;
  std::map<int, int> summed_;  // buckets of the present round, by rank
  std::map<int, int> answered_;
  int parked_ = 0;
};

}  // namespace

SimulatedRun Simulate(const ModeShape& mode, const StepDemand& demand,
                      const SimulatedCluster& cluster) {
  return Simulation(mode, demand, cluster).Run();
}

}  // namespace shoal
