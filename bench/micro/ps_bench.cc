// Rows a second of pulls and Adagrad pushes on an in-process shard, beside what
// the memory itself gives: the same records in the same random order, read or
// updated by a bare loop with prefetch. Argument: rows of the table; compare
// only figures of one run and one argument:
//   share = (Pull / ReadRecords) and (PushAdagrad / UpdateRecords).
// Every row exists before the clock starts.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "base/executor.h"
#include "base/philox.h"
#include "benchmark/benchmark.h"
#include "ps/shard/parameter_shard.h"
#include "ps/table/hash_index.h"
#include "ps/table/memory_budget.h"
#include "ps/table/record_layout.h"
#include "ps/table/reserved_memory.h"

namespace shoal {
namespace {

constexpr int kDim = 16;               // and one float of w: DeepFM's model A
constexpr size_t kIdsPerBatch = 6533;  // of 1,024 Criteo rows
constexpr size_t kBatches = 64;
constexpr size_t kAhead = 8;  // records

// Completions wait until Drain: only the shard's own work is measured.
class QueueExecutor final : public Executor {
 public:
  void Post(Task task) override { tasks_.push_back(std::move(task)); }
  void PostAt(absl::Time, Task task) override { Post(std::move(task)); }
  absl::Time Now() const override { return absl::Now(); }
  void Drain() {
    for (Task& task : tasks_) std::move(task)();
    tasks_.clear();
  }

 private:
  std::vector<Task> tasks_;
};

TableSpec Table(uint64_t rows, bool dynamic = false) {
  OptimizerSpec adagrad;
  adagrad.kind = OptimizerKind::kAdagrad;
  adagrad.learning_rate = 0.01f;
  return {"ids",
          dynamic ? 0 : rows,
          {{"w", 1, adagrad, {}},
           {"v", kDim, adagrad, {InitializerKind::kUniform, 0.01f}}}};
}

// kBatches batches of distinct ids, uniform over the rows.
std::vector<std::vector<FeatureId>> RandomBatches(uint64_t rows) {
  const Philox philox(1);
  std::vector<bool> seen(rows);
  std::vector<std::vector<FeatureId>> batches(kBatches);
  uint64_t draw = 0;
  for (std::vector<FeatureId>& ids : batches) {
    while (ids.size() < std::min<size_t>(kIdsPerBatch, rows)) {
      const Philox::Block block = philox(0, draw++);
      const FeatureId id = (uint64_t{block[0]} << 32 | block[1]) % rows;
      if (seen[id]) continue;
      seen[id] = true;
      ids.push_back(id);
    }
    for (const FeatureId id : ids) seen[id] = false;
  }
  return batches;
}

struct ShardUnderTest {
  explicit ShardUnderTest(uint64_t rows, bool dynamic = false)
      : batches(RandomBatches(rows)) {
    ParameterShardOptions options;
    options.job = "bench";
    options.model.model = "bench";
    options.model.tables = {Table(rows, dynamic)};
    options.map.tables = {{PartitionKind::kFixedSize, rows, 1}};
    if (dynamic) options.map.tables = {{PartitionKind::kHash, 0, 1}};
    options.life = {1, 1};
    shard = *ParameterShard::Create(std::move(options), &executor);
    shard->ServeUntil(absl::InfiniteFuture());
    values.resize(kIdsPerBatch * (kDim + 1));
    for (FeatureId id = 0; id < rows; id += kIdsPerBatch) {
      std::vector<FeatureId> ids;
      for (FeatureId i = id; i < std::min(rows, id + kIdsPerBatch); ++i) {
        ids.push_back(i);
      }
      Pull(ids);
    }
  }

  void Pull(const std::vector<FeatureId>& ids) {
    PullRequest request;
    request.identity = identity;
    request.tables = {
        {0, ids, absl::MakeSpan(values).first(ids.size() * (kDim + 1))}};
    shard->Pull(std::move(request), absl::Seconds(10),
                [](absl::StatusOr<PullReply> reply) {
                  if (!reply.ok()) std::abort();
                });
    executor.Drain();
  }

  void Push(const std::vector<FeatureId>& ids, uint32_t number) {
    PushRequest request;
    request.identity = identity;
    request.batch = {0, number / 1024, number % 1024};
    request.tables = {{0, ids, gradients}};
    shard->Push(std::move(request), absl::Seconds(10),
                [](absl::StatusOr<PushReply> reply) {
                  if (!reply.ok() || reply->repeat) std::abort();
                });
    executor.Drain();
    if (number % 1024 == 0) shard->TakeMarks();
  }

  QueueExecutor executor;
  const CallIdentity identity = {"bench", {1, 2}, {1, 1}, 1};
  const std::vector<std::vector<FeatureId>> batches;
  std::vector<float> values;
  const std::vector<float> gradients =
      std::vector<float>(kIdsPerBatch * (kDim + 1), 1e-3f);
  std::unique_ptr<ParameterShard> shard;
};

void BM_Pull(benchmark::State& state) {
  ShardUnderTest test(state.range(0));
  size_t next = 0;
  for (auto _ : state) test.Pull(test.batches[next++ % kBatches]);
  state.SetItemsProcessed(state.iterations() * kIdsPerBatch);
}

void BM_PushAdagrad(benchmark::State& state) {
  ShardUnderTest test(state.range(0));
  uint32_t next = 0;
  for (auto _ : state) {
    test.Push(test.batches[next % kBatches], next);
    ++next;
  }
  state.SetItemsProcessed(state.iterations() * kIdsPerBatch);
}

// The same of a dynamic table.
void BM_PullDynamic(benchmark::State& state) {
  ShardUnderTest test(state.range(0), /*dynamic=*/true);
  size_t next = 0;
  for (auto _ : state) test.Pull(test.batches[next++ % kBatches]);
  state.SetItemsProcessed(state.iterations() * kIdsPerBatch);
}

void BM_PushAdagradDynamic(benchmark::State& state) {
  ShardUnderTest test(state.range(0), /*dynamic=*/true);
  uint32_t next = 0;
  for (auto _ : state) {
    test.Push(test.batches[next % kBatches], next);
    ++next;
  }
  state.SetItemsProcessed(state.iterations() * kIdsPerBatch);
}

// Look-ups alone, of ids that are there.
void BM_HashFind(benchmark::State& state) {
  const uint64_t rows = state.range(0);
  MemoryBudget budget(0);
  HashIndex index(&budget);
  RecordHeader record{};
  for (FeatureId id = 0; id < rows; ++id) {
    if (!index.Reserve({id}).ok()) std::abort();
    index.Insert(id, &record);
  }
  const auto batches = RandomBatches(rows);
  std::vector<RecordHeader*> found(kIdsPerBatch);
  size_t next = 0;
  for (auto _ : state) {
    index.Find(batches[next++ % kBatches], absl::MakeSpan(found));
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * kIdsPerBatch);
}

// The ceilings: records of the table's stride, nothing but the memory's work.
struct BareRecords {
  explicit BareRecords(uint64_t rows)
      : stride(RecordLayout(Table(rows)).stride()),
        memory(*ReservedMemory::Create(rows * stride)),
        batches(RandomBatches(rows)) {
    std::fill_n(memory.data(), rows * stride, 1);
  }
  void Prefetch(FeatureId id, size_t bytes) const {
    for (size_t i = 0; i < bytes; i += 64) {
      __builtin_prefetch(memory.data() + id * stride + i, 1);
    }
  }

  const size_t stride;
  const ReservedMemory memory;
  const std::vector<std::vector<FeatureId>> batches;
};

// Copies the bytes that a pull reads.
void BM_ReadRecords(benchmark::State& state) {
  const BareRecords bare(state.range(0));
  const size_t bytes = RecordLayout(Table(1)).read_bytes();
  std::vector<char> out(kIdsPerBatch * bytes);
  size_t next = 0;
  for (auto _ : state) {
    const std::vector<FeatureId>& ids = bare.batches[next++ % kBatches];
    for (size_t i = 0; i < ids.size(); ++i) {
      bare.Prefetch(ids[std::min(i + kAhead, ids.size() - 1)], bytes);
      std::copy_n(bare.memory.data() + ids[i] * bare.stride, bytes,
                  out.data() + i * bytes);
    }
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * kIdsPerBatch);
}

// Adds 1 to every word of a record: an update without its arithmetic.
void BM_UpdateRecords(benchmark::State& state) {
  const BareRecords bare(state.range(0));
  size_t next = 0;
  for (auto _ : state) {
    const std::vector<FeatureId>& ids = bare.batches[next++ % kBatches];
    for (size_t i = 0; i < ids.size(); ++i) {
      bare.Prefetch(ids[std::min(i + kAhead, ids.size() - 1)], bare.stride);
      uint32_t* words = reinterpret_cast<uint32_t*>(bare.memory.data() +
                                                    ids[i] * bare.stride);
      for (size_t w = 0; w < bare.stride / 4; ++w) words[w] += 1;
    }
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * kIdsPerBatch);
}

// 36 MiB and 576 MiB of records of 144 bytes: about the cache, and beyond it.
BENCHMARK(BM_ReadRecords)->Arg(1 << 18)->Arg(1 << 22);
BENCHMARK(BM_Pull)->Arg(1 << 18)->Arg(1 << 22);
BENCHMARK(BM_PullDynamic)->Arg(1 << 18)->Arg(1 << 22);
BENCHMARK(BM_HashFind)->Arg(1 << 18)->Arg(10'000'000);
BENCHMARK(BM_UpdateRecords)->Arg(1 << 18)->Arg(1 << 22);
BENCHMARK(BM_PushAdagrad)->Arg(1 << 18)->Arg(1 << 22);
BENCHMARK(BM_PushAdagradDynamic)->Arg(1 << 18)->Arg(1 << 22);

}  // namespace
}  // namespace shoal

BENCHMARK_MAIN();
