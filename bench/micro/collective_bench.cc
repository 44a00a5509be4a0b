// AllReduce over loopback between ranks of one process, each with its threads:
// TcpRing beside a bare ring (bare_ring.h) and, where it is installed, Gloo.
// Both have what TcpRing has around it: a thread for each rank, which a caller
// wakes by an eventfd, and an executor to which the completion is posted. All
// rings sleep while they wait. Rings run in turns of about 10 ms, so that a
// change of the machine's pace meets all of them.
//
//   us               wall time of one AllReduce, from the first rank's call to
//                    the last rank's completion: the mean of a turn, of which
//                    the median over the turns
//   busbw            GB/s a rank: 2 (N - 1) / N x bytes ÷ wall time (BusRate)
//   bare_us          the same of the bare ring
//   share            bare_us ÷ us; at least .90 is the aim
//   gloo_us          the same of Gloo's ring, without a check that ranks agree
//   cpu_s/GB         CPU time of the process, all ranks, ÷ bytes of the values
//   bare_cpu_s/GB    the same of the bare ring
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/time/clock.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "base/thread_executor.h"
#include "bench/allreduce/bus_rate.h"
#include "bench/micro/bare_ring.h"
#include "bench/micro/thread_cpu.h"
#include "benchmark/benchmark.h"
#include "rpc/tcp_ring.h"
#ifdef SHOAL_BENCH_GLOO
#include "bench/micro/gloo_ring.h"
#endif

namespace shoal {
namespace {

// A rank's AllReduce, which calls `done` when it is over.
using Rank =
    std::function<void(absl::Span<float>, absl::AnyInvocable<void() &&> done)>;

// A function that blocks, behind a thread as TcpRing has it.
class BlockingRank {
 public:
  using Sum = std::function<void(float* values, size_t length)>;

  BlockingRank(Sum sum, Executor* executor)
      : sum_(std::move(sum)),
        executor_(executor),
        wake_fd_(eventfd(0, EFD_CLOEXEC)),
        thread_([this] { Run(); }) {}
  ~BlockingRank() {
    Wake();
    thread_.join();
    close(wake_fd_);
  }

  void Call(absl::Span<float> values, absl::AnyInvocable<void() &&> done) {
    {
      MutexLock lock(&mu_);
      values_ = values;
      done_ = std::move(done);
    }
    Wake();
  }

 private:
  void Wake() {
    const uint64_t one = 1;
    if (write(wake_fd_, &one, sizeof(one)) != sizeof(one)) std::abort();
  }
  void Run() {
    while (true) {
      uint64_t calls;
      if (read(wake_fd_, &calls, sizeof(calls)) != sizeof(calls)) std::abort();
      absl::Span<float> values;
      absl::AnyInvocable<void() &&> done;
      {
        MutexLock lock(&mu_);
        values = values_;
        done = std::move(done_);
        done_ = nullptr;
      }
      if (done == nullptr) return;
      sum_(values.data(), values.size());
      executor_->Post(std::move(done));
    }
  }

  const Sum sum_;
  Executor* const executor_;
  const int wake_fd_;
  Mutex mu_;
  absl::Span<float> values_ ABSL_GUARDED_BY(mu_);
  absl::AnyInvocable<void() &&> done_ ABSL_GUARDED_BY(mu_);
  std::thread thread_;
};

struct Spent {
  double wall = 0;
  double cpu = 0;
};

// The turns of one implementation.
class Turns {
 public:
  void Add(Spent turn) {
    walls_.push_back(turn.wall);
    cpu_ += turn.cpu;
  }
  double cpu() const { return cpu_; }
  // REQUIRES: there was a turn.
  double median_wall() {
    const auto middle =
        walls_.begin() + static_cast<std::ptrdiff_t>(walls_.size() / 2);
    std::nth_element(walls_.begin(), middle, walls_.end());
    return *middle;
  }

 private:
  std::vector<double> walls_;
  double cpu_ = 0;
};

// Values of all ranks, and calls of all ranks that are awaited.
class Ranks {
 public:
  Ranks(size_t size, size_t length)
      : values_(size, std::vector<float>(length, 0)) {}

  // Makes `calls` AllReduces, one after the other.
  Spent Run(const std::vector<Rank>& ranks, int calls) {
    const absl::Time start = absl::Now();
    const double cpu = ProcessCpuSeconds();
    for (int call = 0; call < calls; ++call) {
      {
        MutexLock lock(&mu_);
        running_ = ranks.size();
      }
      for (size_t r = 0; r < ranks.size(); ++r) {
        ranks[r](absl::MakeSpan(values_[r]), [this] {
          MutexLock lock(&mu_);
          if (--running_ == 0) ended_.Signal();
        });
      }
      MutexLock lock(&mu_);
      while (running_ > 0) ended_.Wait(&mu_);
    }
    return {absl::ToDoubleSeconds(absl::Now() - start),
            ProcessCpuSeconds() - cpu};
  }

 private:
  std::vector<std::vector<float>> values_;
  Mutex mu_;
  CondVar ended_;
  size_t running_ ABSL_GUARDED_BY(mu_) = 0;
};

// One executor for each rank.
class Executors {
 public:
  explicit Executors(size_t size) {
    for (size_t r = 0; r < size; ++r) {
      all_.push_back(std::make_unique<ThreadExecutor>(
          ThreadExecutorOptions{.name = "completions"}, &clock_));
    }
  }
  Executor* operator[](size_t r) { return all_[r].get(); }

 private:
  RealClock clock_;
  std::vector<std::unique_ptr<ThreadExecutor>> all_;
};

std::vector<std::unique_ptr<TcpRing>> MakeRings(size_t size,
                                                Reduction reduction,
                                                Executors* executors) {
  std::vector<RingPort> ports;
  for (size_t r = 0; r < size; ++r) {
    ports.push_back(*RingPort::Open("127.0.0.1:0", ""));
  }
  std::vector<std::string> addresses;
  for (const RingPort& port : ports) addresses.push_back(port.address());
  std::vector<std::unique_ptr<TcpRing>> rings;
  for (size_t r = 0; r < size; ++r) {
    TcpRingOptions options;
    options.rank = static_cast<int>(r);
    options.size = static_cast<int>(size);
    options.reduction = reduction;
    options.next = addresses[(r + 1) % size];
    rings.push_back(
        *TcpRing::Start(std::move(ports[r]), options, (*executors)[r]));
  }
  return rings;
}

std::vector<Rank> CallsOf(
    const std::vector<std::unique_ptr<TcpRing>>& rings) {
  std::vector<Rank> ranks;
  for (const auto& ring : rings) {
    ranks.push_back([ring = ring.get()](absl::Span<float> values,
                                        absl::AnyInvocable<void() &&> done) {
      ring->AllReduce({.name = "bench"}, values, absl::Seconds(60),
                      [done = std::move(done)](
                          absl::StatusOr<CollectiveReply> reply) mutable {
                        if (!reply.ok()) std::abort();
                        std::move(done)();
                      });
    });
  }
  return ranks;
}

using BlockingRanks = std::vector<std::unique_ptr<BlockingRank>>;

std::vector<Rank> CallsOf(const BlockingRanks& blocking) {
  std::vector<Rank> ranks;
  for (const auto& rank : blocking) {
    ranks.push_back([rank = rank.get()](absl::Span<float> values,
                                        absl::AnyInvocable<void() &&> done) {
      rank->Call(values, std::move(done));
    });
  }
  return ranks;
}

// A connection over loopback: first sends to second. Both do not block.
std::pair<int, int> Connection() {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  auto* const name = reinterpret_cast<sockaddr*>(&address);
  const int listening = socket(AF_INET, SOCK_STREAM, 0);
  const int first = socket(AF_INET, SOCK_STREAM, 0);
  const int on = 1;
  if (bind(listening, name, size) != 0 || listen(listening, 1) != 0 ||
      getsockname(listening, name, &size) != 0 ||
      connect(first, name, size) != 0 ||
      setsockopt(first, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) != 0 ||
      fcntl(first, F_SETFL, O_NONBLOCK) != 0) {
    std::abort();
  }
  const int second = accept4(listening, nullptr, nullptr, SOCK_NONBLOCK);
  close(listening);
  return {first, second};
}

BlockingRanks MakeBareRings(size_t size, Executors* executors) {
  std::vector<std::pair<int, int>> links;  // of rank r to rank r + 1
  for (size_t r = 0; r < size; ++r) links.push_back(Connection());
  BlockingRanks ranks;
  for (size_t r = 0; r < size; ++r) {
    auto ring = std::make_shared<BareRing>(
        static_cast<int>(r), static_cast<int>(size),
        links[(r + size - 1) % size].second, links[r].first);
    ranks.push_back(std::make_unique<BlockingRank>(
        [ring](float* values, size_t length) { ring->Sum(values, length); },
        (*executors)[r]));
  }
  return ranks;
}

void AllReduce(benchmark::State& state, Reduction reduction) {
  const size_t size = static_cast<size_t>(state.range(0));
  const size_t bytes = static_cast<size_t>(state.range(1));
  Executors executors(size);
  const auto rings = MakeRings(size, reduction, &executors);
  const BlockingRanks bare = MakeBareRings(size, &executors);
  const std::vector<Rank> own = CallsOf(rings);
  const std::vector<Rank> ceiling = CallsOf(bare);
  Ranks ranks(size, bytes / sizeof(float));
  const Spent first = ranks.Run(own, 10);
  ranks.Run(ceiling, 2);
#ifdef SHOAL_BENCH_GLOO
  const auto sums = MakeGlooSums(static_cast<int>(size));
  BlockingRanks gloo;
  for (size_t r = 0; r < size; ++r) {
    gloo.push_back(std::make_unique<BlockingRank>(sums[r], executors[r]));
  }
  const std::vector<Rank> peer = CallsOf(gloo);
  ranks.Run(peer, 2);
  Turns gloos;
#endif
  const int calls = std::max(2, static_cast<int>(0.1 / first.wall));
  Turns owns, bares;
  for (auto _ : state) {
    owns.Add(ranks.Run(own, calls));
    bares.Add(ranks.Run(ceiling, calls));
#ifdef SHOAL_BENCH_GLOO
    gloos.Add(ranks.Run(peer, calls));
#endif
  }
  const double turn_gb = 1e-9 * static_cast<double>(bytes) * calls;
  const double gigabytes = turn_gb * static_cast<double>(state.iterations());
  const double wall = owns.median_wall();
  state.counters["us"] = 1e6 * wall / calls;
  state.counters["busbw"] =
      BusRate(static_cast<int>(size), turn_gb, wall);
  state.counters["bare_us"] = 1e6 * bares.median_wall() / calls;
  state.counters["share"] = bares.median_wall() / wall;
  state.counters["cpu_s/GB"] = owns.cpu() / gigabytes;
  state.counters["bare_cpu_s/GB"] = bares.cpu() / gigabytes;
#ifdef SHOAL_BENCH_GLOO
  state.counters["gloo_us"] = 1e6 * gloos.median_wall() / calls;
#endif
}

void Sizes(benchmark::internal::Benchmark* benchmark) {
  for (const int bytes : AllReduceSizes()) benchmark->Args({2, bytes});
  benchmark->Args({4, 4 << 20})->ArgNames({"ranks", "bytes"})->UseRealTime();
}
BENCHMARK_CAPTURE(AllReduce, fast, Reduction::kFast)->Apply(Sizes);
BENCHMARK_CAPTURE(AllReduce, rank_order, Reduction::kRankOrder)->Apply(Sizes);

}  // namespace
}  // namespace shoal

BENCHMARK_MAIN();
