// The wire and the served table, over gRPC on loopback: one server and one
// client with one thread on a completion queue each, and a few calls in flight.
//
// Wire: 1 MiB of dense gradients or values in each call, to a service that does
// nothing. Raw slices (raw_transport.h) are measured before and after:
//   GB/s, CPU-s/GB   payload ÷ wall time, CPU time of the process ÷ payload
//   raw_*            the same for raw slices
//   share            GB/s ÷ raw_GB/s
//   copies           bytes that Shoal copies ÷ payload (rpc/copy_stats.h), both
//                    sides; gRPC's and the kernel's are in the raw figures
//
// Served: batches of 10,000 distinct ids to one shard, as ps_bench has them:
//   Mrows/s          rows ÷ wall time
//   us/krow          CPU time of the process, both sides, for 1,000 rows
//   inside_Mrows/s   rows ÷ CPU time inside the shard, on the server's thread
//   ceiling          rate of the bare loop without serving (random_records.h)
//   share            inside_Mrows/s ÷ ceiling: the table in a served request
#include <atomic>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "base/thread_executor.h"
#include "bench/micro/bench_shard.h"
#include "bench/micro/id_batches.h"
#include "bench/micro/kept.h"
#include "bench/micro/random_records.h"
#include "bench/micro/raw_transport.h"
#include "bench/micro/thread_cpu.h"
#include "benchmark/benchmark.h"
#include "rpc/client_loop.h"
#include "rpc/parameter_client.h"
#include "rpc/server.h"

namespace shoal {
namespace {

constexpr size_t kWireFloats = (1 << 20) / sizeof(float);
constexpr int kWireCalls = 1000;
constexpr int kServedCalls = 2 * kBatches;

struct Spent {
  double wall = 0;
  double cpu = 0;
};

// Makes `total` calls with `at_once` of them in flight. `call` gets the number
// of its lane and the callback for its end.
class ClosedLoop {
 public:
  using Call = absl::FunctionRef<void(int lane, absl::AnyInvocable<void()>)>;

  Spent Run(int total, int at_once, Call call) {
    const absl::Time start = absl::Now();
    const double cpu = ProcessCpuSeconds();
    {
      MutexLock lock(&mu_);
      left_ = total;
      running_ = at_once;
    }
    for (int lane = 0; lane < at_once; ++lane) Next(lane, call);
    MutexLock lock(&mu_);
    while (running_ > 0) ended_.Wait(&mu_);
    return {absl::ToDoubleSeconds(absl::Now() - start),
            ProcessCpuSeconds() - cpu};
  }

 private:
  void Next(int lane, Call call) {
    {
      MutexLock lock(&mu_);
      if (left_ == 0) {
        if (--running_ == 0) ended_.Signal();
        return;
      }
      --left_;
    }
    call(lane, [this, lane, call] { Next(lane, call); });
  }

  Mutex mu_;
  CondVar ended_;
  int left_ ABSL_GUARDED_BY(mu_) = 0;
  int running_ ABSL_GUARDED_BY(mu_) = 0;
};

// Forwards calls, and sums the processor time that they take on the calling
// thread. Called by one thread at a time.
class TimedService final : public ParameterService {
 public:
  explicit TimedService(ParameterService* service) : service_(service) {}
  void Pull(PullRequest request, absl::Duration timeout,
            Done<PullReply> done) override {
    const double start = ThreadCpuSeconds();
    service_->Pull(std::move(request), timeout, std::move(done));
    seconds_ = seconds_ + (ThreadCpuSeconds() - start);
  }
  void Push(PushRequest request, absl::Duration timeout,
            Done<PushReply> done) override {
    const double start = ThreadCpuSeconds();
    service_->Push(std::move(request), timeout, std::move(done));
    seconds_ = seconds_ + (ThreadCpuSeconds() - start);
  }
  void Stats(StatsRequest request, absl::Duration timeout,
             Done<StatsReply> done) override {
    service_->Stats(std::move(request), timeout, std::move(done));
  }
  double seconds() const { return seconds_; }

 private:
  ParameterService* const service_;
  std::atomic<double> seconds_{0};
};

// Answers at once.
class IdleService final : public ParameterService {
 public:
  explicit IdleService(Executor* executor) : executor_(executor) {}
  void Pull(PullRequest, absl::Duration, Done<PullReply> done) override {
    executor_->Post([done = std::move(done)]() mutable {
      std::move(done)(PullReply{.version = {{1, 1}, 0}});
    });
  }
  void Push(PushRequest, absl::Duration, Done<PushReply> done) override {
    executor_->Post([done = std::move(done)]() mutable {
      std::move(done)(PushReply{.version = {{1, 1}, 0}});
    });
  }
  void Stats(StatsRequest, absl::Duration, Done<StatsReply> done) override {
    executor_->Post([done = std::move(done)]() mutable {
      std::move(done)(absl::UnimplementedError("no statistics"));
    });
  }

 private:
  Executor* const executor_;
};

// One server of a service and one client of it.
class Loopback {
 public:
  explicit Loopback(ParameterService* service)
      : server_(*RpcServer::Start({}, nullptr, &server_executor_)) {
    server_->AttachParameterService(service);
    ParameterClientOptions options;
    options.channel.address = server_->address();
    options.channel.peer = "ps 0";
    client_ =
        std::make_unique<ParameterClient>(options, &loop_, &client_executor_);
  }

  void Push(PushRequest request, absl::AnyInvocable<void()> done) {
    client_->Push(
        std::move(request), absl::Seconds(10),
        [done = std::move(done)](absl::StatusOr<PushReply> reply) mutable {
          if (!reply.ok() || reply->repeat) std::abort();
          done();
        });
  }
  void Pull(PullRequest request, absl::AnyInvocable<void()> done) {
    client_->Pull(
        std::move(request), absl::Seconds(10),
        [done = std::move(done)](absl::StatusOr<PullReply> reply) mutable {
          if (!reply.ok()) std::abort();
          done();
        });
  }

  // Bytes copied for a byte of payload, on both sides together.
  double CopiesPerByte() const {
    const CopyStats client = client_->copy_stats();
    const CopyStats server = server_->copy_stats();
    return static_cast<double>(client.copied_bytes + server.copied_bytes) /
           static_cast<double>(client.payload_bytes);
  }

 private:
  RealClock clock_;
  ThreadExecutor server_executor_{{.name = "server", .threads = 1}, &clock_};
  ThreadExecutor client_executor_{{.name = "client", .threads = 1}, &clock_};
  ClientLoop loop_;
  std::unique_ptr<RpcServer> server_;
  std::unique_ptr<ParameterClient> client_;
};

Spent Raw(bool push, int at_once) {
  constexpr uint64_t kBytes = kWireFloats * sizeof(float);
  constexpr uint64_t kSmall = 64;
  RawTransport raw(push ? kBytes : kSmall, push ? kSmall : kBytes);
  const auto call = [&](int, absl::AnyInvocable<void()> done) {
    raw.Call(std::move(done));
  };
  ClosedLoop().Run(20, at_once, call);
  return ClosedLoop().Run(kWireCalls, at_once, call);
}

void BM_Wire(benchmark::State& state, bool push, int at_once) {
  RealClock clock;
  ThreadExecutor executor({.name = "service", .threads = 1}, &clock);
  IdleService service(&executor);
  Loopback loopback(&service);
  std::vector<std::vector<float>> buffers(at_once,
                                          std::vector<float>(kWireFloats));
  uint32_t number = 0;
  const auto call = [&](int lane, absl::AnyInvocable<void()> done) {
    std::vector<float>& buffer = buffers[lane];
    if (push) {
      PushRequest request;
      request.identity = BenchIdentity();
      request.batches = {{.id = {0, 0, number}}};
      request.blocks = {{0, buffer}};
      loopback.Push(std::move(request), std::move(done));
    } else {
      PullRequest request;
      request.identity = BenchIdentity();
      request.blocks = {{0, absl::MakeSpan(buffer)}};
      loopback.Pull(std::move(request), std::move(done));
    }
  };
  ClosedLoop().Run(20, at_once, call);
  for (auto _ : state) {
    const Spent before = Raw(push, at_once);
    const Spent ours = ClosedLoop().Run(kWireCalls, at_once, call);
    const Spent after = Raw(push, at_once);
    const double gb = 1e-9 * kWireCalls * kWireFloats * sizeof(float);
    const double raw_wall = (before.wall + after.wall) / 2;
    const double raw_cpu = (before.cpu + after.cpu) / 2;
    state.counters["GB/s"] = gb / ours.wall;
    state.counters["raw_GB/s"] = gb / raw_wall;
    state.counters["share"] = raw_wall / ours.wall;
    state.counters["CPU-s/GB"] = ours.cpu / gb;
    state.counters["raw_CPU-s/GB"] = raw_cpu / gb;
    state.counters["copies"] = loopback.CopiesPerByte();
  }
}

// A shard of a table all of whose rows exist, and its server.
class ServedTable {
 public:
  explicit ServedTable(const BenchTable& table)
      : shard_(*ParameterShard::Create(BenchShardOptions(table), &executor_)),
        timed_(shard_.get()) {
    shard_->ServeUntil(absl::InfiniteFuture());
    std::vector<float> values(8192 * (1 + table.dim));
    ForAllIds(table.rows(), [&](absl::Span<const FeatureId> ids) {
      PullRequest request;
      request.identity = BenchIdentity();
      request.tables = {
          {0, ids, absl::MakeSpan(values).first(ids.size() * (1 + table.dim))}};
      ClosedLoop().Run(1, 1, [&](int, absl::AnyInvocable<void()> done) {
        shard_->Pull(
            request, absl::Seconds(10),
            [done = std::move(done)](absl::StatusOr<PullReply> reply) mutable {
              if (!reply.ok()) std::abort();
              done();
            });
      });
    });
  }

  ParameterShard* shard() { return shard_.get(); }
  const TimedService& timed() const { return timed_; }
  Loopback& loopback() { return loopback_; }
  uint32_t NextPush() {
    if (++pushes_ % 1024 == 0) shard_->TakeMarks();
    return pushes_;
  }

 private:
  RealClock clock_;
  ThreadExecutor executor_{{.name = "shard", .threads = 1}, &clock_};
  std::unique_ptr<ParameterShard> shard_;
  TimedService timed_;
  Loopback loopback_{&timed_};
  std::atomic<uint32_t> pushes_{0};
};

struct Ceiling {
  explicit Ceiling(const BenchTable& table)
      : layout(table.spec()), records(table.rows(), layout.stride()) {}
  const RecordLayout layout;
  RandomRecords records;
};

void BM_Served(benchmark::State& state, BenchTable table, IdLaw law,
               bool push) {
  constexpr int kAtOnce = 4;
  const auto batches =
      DistinctIdBatches(law, table.rows(), kIdsPerBatch, kBatches);
  ServedTable& served = Kept<ServedTable>(table);
  BenchTable records = table;  // both kinds have equal records
  records.dynamic = false;
  Ceiling& bare = Kept<Ceiling>(records);
  const auto ceiling = [&] {
    return push ? bare.records.UpdateRate(batches)
                : bare.records.ReadRate(batches, bare.layout.read_bytes());
  };
  const size_t floats = kIdsPerBatch * (1 + table.dim);
  std::vector<std::vector<float>> values(kAtOnce, std::vector<float>(floats));
  const std::vector<float> gradients(floats, 1e-3f);
  std::atomic<size_t> next{0};
  const auto call = [&](int lane, absl::AnyInvocable<void()> done) {
    const std::vector<FeatureId>& ids = batches[next++ % kBatches];
    if (push) {
      const uint32_t number = served.NextPush();
      PushRequest request;
      request.identity = BenchIdentity();
      request.batches = {{.id = {0, number / 1024, number % 1024}}};
      request.tables = {{0, ids, gradients}};
      served.loopback().Push(std::move(request), std::move(done));
    } else {
      PullRequest request;
      request.identity = BenchIdentity();
      request.tables = {{0, ids, absl::MakeSpan(values[lane])}};
      served.loopback().Pull(std::move(request), std::move(done));
    }
  };
  ClosedLoop().Run(16, kAtOnce, call);
  for (auto _ : state) {
    double best = ceiling() / 2;
    const double inside = served.timed().seconds();
    const Spent spent = ClosedLoop().Run(kServedCalls, kAtOnce, call);
    const double rows = double{kServedCalls} * kIdsPerBatch;
    const double rate = rows / (served.timed().seconds() - inside);
    best += ceiling() / 2;
    state.counters["Mrows/s"] = 1e-6 * rows / spent.wall;
    state.counters["us/krow"] = 1e9 * spent.cpu / rows;
    state.counters["inside_Mrows/s"] = 1e-6 * rate;
    state.counters["ceiling"] = 1e-6 * best;
    state.counters["share"] = rate / best;
  }
}

void RegisterAll() {
  for (const char* what : {"Push", "Pull"}) {
    const bool push = absl::string_view(what) == "Push";
    for (const int at_once : {1, 4}) {
      benchmark::RegisterBenchmark(
          absl::StrCat("Wire", what, "1MiB/at_once:", at_once).c_str(), BM_Wire,
          push, at_once)
          ->Iterations(1)
          ->UseRealTime();
    }
  }
  ForAllTables([](const BenchTable& table, IdLaw law, absl::string_view name) {
    for (const bool push : {false, true}) {
      benchmark::RegisterBenchmark(
          absl::StrCat("Served", push ? "Push/" : "Pull/", name).c_str(),
          BM_Served, table, law, push)
          ->Iterations(1)
          ->UseRealTime();
    }
  });
}

}  // namespace
}  // namespace shoal

int main(int argc, char** argv) {
  shoal::RegisterAll();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
