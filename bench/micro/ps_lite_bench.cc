// The served table of rpc_bench, with ps-lite's KVWorker and KVServer. Needs a
// checkout of ps-lite (bench/peers/README.md). One worker process and one
// server process over loopback; the scheduler is idle and not measured. Batches
// of 10,000 distinct ids, the same as in rpc_bench, travel each way with their
// rows; 4 calls are in flight.
//
//   Mrows/s        rows ÷ wall time
//   us/krow        CPU time of worker and server for 1,000 rows
//   server_us/krow  the server's part of it
//   sort_us/krow   CPU time to sort ids, which ps-lite needs; not in us/krow
//
// ps-lite provides the transport; its user writes the table. Names say which
// table:
//   none   answers pulls with constant values, drops pushes: only transport
//   array  records of weights and Adagrad's accumulators at their ids
//   hash   the same in a std::unordered_map, as ps-lite's own default handler
//          keeps its values, with a place for every row from the start
//
// Advantages of ps-lite in this comparison: ids are sorted before the clock
// starts, so that the table is walked in the order of memory. Rows are made in
// that order, too. Replies are sent from buffers that are reused. The server
// checks, marks and counts nothing, and applies a push twice if it is sent
// twice.
#include <arpa/inet.h>
#include <ps/ps.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "bench/micro/bench_shard.h"
#include "bench/micro/id_batches.h"
#include "bench/micro/kept.h"
#include "bench/micro/thread_cpu.h"
#include "benchmark/benchmark.h"

namespace shoal {
namespace {

constexpr int kCalls = 4 * kBatches;
constexpr size_t kAtOnce = 4;
constexpr float kFirstWeight = 0.5f;
constexpr float kFirstAccumulator = 0.1f;
constexpr float kLearningRate = 0.01f;
constexpr float kGradient = 1e-3f;

enum class StoreKind { kNone, kArray, kHash };

// The subject of a call, a number that ps-lite passes to the server.
struct Subject {
  StoreKind kind = StoreKind::kNone;
  BenchTable table;

  size_t width() const { return 1 + table.dim; }
  int command() const {
    return static_cast<int>(kind) | table.dim << 2 |
           static_cast<int>(table.gib) << 10;
  }
  static Subject Of(int command) {
    Subject subject;
    subject.kind = static_cast<StoreKind>(command & 3);
    subject.table.dim = command >> 2 & 0xff;
    subject.table.gib = command >> 10;
    return subject;
  }
  friend bool operator==(const Subject&, const Subject&) = default;
};
constexpr int kProcessorTime = -1;  // asks for the server's processor time

template <size_t kWidth>
struct Record {
  Record() { accumulators.fill(kFirstAccumulator); }
  void Apply(const float* gradients) {
    for (size_t i = 0; i < kWidth; ++i) {
      accumulators[i] += gradients[i] * gradients[i];
      weights[i] -= kLearningRate * gradients[i] / std::sqrt(accumulators[i]);
    }
  }
  std::array<float, kWidth> weights, accumulators;
};

class Store {
 public:
  virtual ~Store() = default;
  virtual void Pull(const ps::SArray<ps::Key>& ids, float* values) = 0;
  virtual void Push(const ps::SArray<ps::Key>& ids, const float* gradients) = 0;
};

class NoStore final : public Store {
 public:
  void Pull(const ps::SArray<ps::Key>&, float*) override {}
  void Push(const ps::SArray<ps::Key>&, const float*) override {}
};

// `Records` maps an id to its record by [].
template <size_t kWidth, typename Records>
class RecordStore final : public Store {
 public:
  explicit RecordStore(uint64_t rows) : records_(rows) {
    for (ps::Key id = 0; id < rows; ++id) {
      records_[id].weights.fill(kFirstWeight);
    }
  }
  void Pull(const ps::SArray<ps::Key>& ids, float* values) override {
    for (const ps::Key id : ids) {
      const Record<kWidth>& record = records_[id];
      std::copy(record.weights.begin(), record.weights.end(), values);
      values += kWidth;
    }
  }
  void Push(const ps::SArray<ps::Key>& ids, const float* gradients) override {
    for (const ps::Key id : ids) {
      records_[id].Apply(gradients);
      gradients += kWidth;
    }
  }

 private:
  Records records_;
};

template <size_t kWidth>
std::unique_ptr<Store> CreateStore(StoreKind kind, uint64_t rows) {
  if (kind == StoreKind::kNone) return std::make_unique<NoStore>();
  if (kind == StoreKind::kArray) {
    using Array = std::vector<Record<kWidth>>;
    return std::make_unique<RecordStore<kWidth, Array>>(rows);
  }
  using Map = std::unordered_map<ps::Key, Record<kWidth>>;
  return std::make_unique<RecordStore<kWidth, Map>>(rows);
}

// The server's state for one subject.
struct Served {
  explicit Served(const Subject& subject)
      : store(subject.table.dim == 16
                  ? CreateStore<17>(subject.kind, subject.table.rows())
                  : CreateStore<33>(subject.kind, subject.table.rows())) {
    for (ps::SArray<float>& reply : replies) {
      reply.resize(kIdsPerBatch * subject.width(), kFirstWeight);
    }
  }
  std::unique_ptr<Store> store;
  std::array<ps::SArray<float>, 2 * kAtOnce> replies;
  size_t next_reply = 0;
};

void Answer(const ps::KVMeta& call, const ps::KVPairs<float>& data,
            ps::KVServer<float>* server) {
  ps::KVPairs<float> reply;
  if (call.cmd == kProcessorTime) {
    reply.keys = data.keys;
    reply.vals.push_back(static_cast<float>(ProcessCpuSeconds()));
  } else {
    Served& served = Kept<Served>(Subject::Of(call.cmd));
    if (call.push) {
      served.store->Push(data.keys, data.vals.data());
    } else {
      reply.keys = data.keys;
      reply.vals = served.replies[served.next_reply++ % served.replies.size()];
      served.store->Pull(data.keys, reply.vals.data());
    }
  }
  server->Response(call, reply);
}

class Worker {
 public:
  // ps-lite's own Wait has no deadline, so set an alarm.
  void Call(const Subject& subject, bool push,
            const std::vector<ps::SArray<ps::Key>>& batches, int total) {
    const size_t floats = kIdsPerBatch * subject.width();
    std::array<int, kAtOnce> calls;
    alarm(120);
    for (ps::SArray<float>& lane : lanes_) lane.resize(floats);
    const ps::SArray<float> gradients(floats, kGradient);
    for (size_t i = 0; i < total + kAtOnce; ++i) {
      const size_t lane = i % kAtOnce;
      if (i >= kAtOnce) kv_.Wait(calls[lane]);
      if (i >= static_cast<size_t>(total)) continue;
      const ps::SArray<ps::Key>& ids = batches[i % batches.size()];
      calls[lane] =
          push ? kv_.ZPush(ids, gradients, {}, subject.command())
               : kv_.ZPull(ids, &lanes_[lane], nullptr, subject.command());
    }
    alarm(0);
  }
  // The rows of the first of the last kAtOnce calls.
  const ps::SArray<float>& pulled() const { return lanes_[0]; }

  double ServerCpuSeconds() {
    const ps::SArray<ps::Key> key(1, 0);
    ps::SArray<float> seconds(1);
    kv_.Wait(kv_.ZPull(key, &seconds, nullptr, kProcessorTime));
    return seconds[0];
  }

 private:
  ps::KVWorker<float> kv_{/*app_id=*/0, /*customer_id=*/0};
  std::array<ps::SArray<float>, kAtOnce> lanes_;
};

void BM_PsLite(benchmark::State& state, Worker* worker, Subject subject,
               IdLaw law, bool push) {
  auto drawn =
      DistinctIdBatches(law, subject.table.rows(), kIdsPerBatch, kBatches);
  const double before = ThreadCpuSeconds();
  for (std::vector<FeatureId>& ids : drawn) std::sort(ids.begin(), ids.end());
  const double sorting = ThreadCpuSeconds() - before;
  std::vector<ps::SArray<ps::Key>> batches;
  for (const std::vector<FeatureId>& ids : drawn) {
    batches.emplace_back();
    batches.back().CopyFrom(ids.begin(), ids.end());
  }
  worker->Call(subject, push, batches, 16);
  for (auto _ : state) {
    const double server = worker->ServerCpuSeconds();
    const absl::Time start = absl::Now();
    const double ours = ProcessCpuSeconds();
    worker->Call(subject, push, batches, kCalls);
    const double wall = absl::ToDoubleSeconds(absl::Now() - start);
    const double used = worker->ServerCpuSeconds() - server;
    const double rows = double{kCalls} * kIdsPerBatch;
    state.counters["Mrows/s"] = 1e-6 * rows / wall;
    state.counters["us/krow"] =
        1e9 * (used + ProcessCpuSeconds() - ours) / rows;
    state.counters["server_us/krow"] = 1e9 * used / rows;
    state.counters["sort_us/krow"] =
        1e9 * sorting / double{kBatches * kIdsPerBatch};
  }
  // Rows came back, and pushes changed them.
  worker->Call(subject, /*push=*/false, batches, 1);
  const bool applied = push && subject.kind != StoreKind::kNone;
  for (const float value : worker->pulled()) {
    if (value > kFirstWeight || (applied && value == kFirstWeight)) {
      state.SkipWithError("the server has lost pushes");
      return;
    }
  }
}

void Register(Worker* worker, StoreKind kind, const std::string& name,
              const BenchTable& table, IdLaw law) {
  for (const bool push : {false, true}) {
    benchmark::RegisterBenchmark(
        absl::StrCat("PsLiteServed", push ? "Push/" : "Pull/", name).c_str(),
        BM_PsLite, worker, Subject{kind, table}, law, push)
        ->Iterations(1)
        ->UseRealTime();
  }
}

void RegisterAll(Worker* worker) {
  for (const int dim : {16, 32}) {
    Register(worker, StoreKind::kNone, dim == 16 ? "none/A" : "none/B",
             BenchTable{.dim = dim}, IdLaw::kUniform);
  }
  ForAllTables([&](const BenchTable& table, IdLaw law,
                   const std::string& name) {
    const StoreKind kind = table.dynamic ? StoreKind::kHash : StoreKind::kArray;
    BenchTable records = table;  // without `dynamic`, which ps-lite lacks
    records.dynamic = false;
    Register(worker, kind, name, records, law);
  });
}

int FreePort() {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  if (fd < 0 || bind(fd, any, size) != 0 || getsockname(fd, any, &size) != 0) {
    std::abort();
  }
  close(fd);
  return ntohs(address.sin_port);
}

void StartAs(const std::string& role, int port) {
  ps::Environment::Init({{"DMLC_ROLE", role},
                         {"DMLC_NUM_SERVER", "1"},
                         {"DMLC_NUM_WORKER", "1"},
                         {"DMLC_PS_ROOT_URI", "127.0.0.1"},
                         {"DMLC_PS_ROOT_PORT", absl::StrCat(port)},
                         {"DMLC_NODE_HOST", "127.0.0.1"}});
  ps::Start(0);
}

void StartProcess(const std::string& role, int port) {
  const pid_t child = fork();
  if (child < 0) std::abort();
  if (child > 0) return;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  StartAs(role, port);
  std::unique_ptr<ps::KVServer<float>> server;
  if (role == "server") {
    server = std::make_unique<ps::KVServer<float>>(0);
    server->set_request_handle(Answer);
  }
  ps::Finalize(0, true);
  _exit(0);
}

}  // namespace
}  // namespace shoal

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  const int port = shoal::FreePort();
  shoal::StartProcess("scheduler", port);
  shoal::StartProcess("server", port);
  shoal::StartAs("worker", port);
  {
    shoal::Worker worker;
    shoal::RegisterAll(&worker);
    benchmark::RunSpecifiedBenchmarks();
  }
  ps::Finalize(0, true);
  while (wait(nullptr) > 0) {
  }
  return 0;
}
