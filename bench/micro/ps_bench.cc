// Rows a second of pulls and of Adagrad pushes, in process and on one thread.
// The ceiling is the rate of the memory itself for records of the same size in
// the same random order (random_records.h), measured before and after:
//
//   Mrows/s  rows ÷ CPU time of the thread
//   ceiling  the same for the bare loop: reads for a pull, updates for a push
//   share    Mrows/s ÷ ceiling
//
// Gather and Apply measure the table alone, with its look-up; their ceiling
// uses the table's own records. Pull and Push measure the whole shard, with all
// its checks; their ceiling uses other memory of the same size. Names say which
// table (array, or hash for a dynamic table, which reads one more cache line
// for each row than the ceiling does), whose rows (models A and B: 1 + 16 and 1
// + 32 weights with their slots), how many GiB of records, and how ids are
// drawn. Every row exists before the clock starts; FirstTouch measures the
// first pull of a row. A batch has 10,000 distinct ids.
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "bench/micro/bench_shard.h"
#include "bench/micro/id_batches.h"
#include "bench/micro/kept.h"
#include "bench/micro/random_records.h"
#include "bench/micro/thread_cpu.h"
#include "benchmark/benchmark.h"
#include "ps/table/embedding_table.h"
#include "ps/table/memory_budget.h"

namespace shoal {
namespace {

constexpr int kIterations = 2 * kBatches;

using Batches = std::vector<std::vector<FeatureId>>;

// Gradients and values of a batch.
struct Rows {
  explicit Rows(const BenchTable& table)
      : values(kIdsPerBatch * (1 + table.dim)),
        gradients(values.size(), 1e-3f) {}
  std::vector<float> values;
  std::vector<float> gradients;
};

class TableUnderTest {
 public:
  explicit TableUnderTest(const BenchTable& bench) : rows_(bench) {
    const ParameterShardOptions options = BenchShardOptions(bench);
    table_ = *CreateEmbeddingTable(options.model.tables[0], /*seed=*/1,
                                   options.map.tables[0], 0, &budget_);
    for (const ColumnSpec& column : table_->spec().columns) {
      steps_.emplace_back(column.optimizer, 1);
    }
    ForAllIds(bench.rows(),
              [&](absl::Span<const FeatureId> ids) { Pull(ids); });
  }

  void Pull(absl::Span<const FeatureId> ids) {
    if (!table_->Locate(ids, /*read_only=*/false, &refs_).ok()) std::abort();
    table_->Gather(ids, /*read_only=*/false, &refs_,
                   absl::MakeSpan(rows_.values)
                       .first(ids.size() * table_->layout().row_dim()));
  }

  // Measures the memory of the table's own rows.
  double Ceiling(const Batches& batches, bool push) {
    RecordBatches records;
    for (const std::vector<FeatureId>& ids : batches) {
      if (!table_->Locate(ids, /*read_only=*/true, &refs_).ok()) std::abort();
      records.emplace_back();
      for (RecordHeader* record : refs_.records) {
        records.back().push_back(reinterpret_cast<char*>(record));
      }
    }
    const RecordLayout& layout = table_->layout();
    return push ? RecordUpdateRate(records, layout.stride())
                : RecordReadRate(records, layout.read_bytes());
  }

  void Push(absl::Span<const FeatureId> ids) {
    if (!table_->Locate(ids, /*read_only=*/false, &refs_).ok()) std::abort();
    table_->Apply(steps_, /*colour=*/0, ids, &refs_, rows_.gradients);
  }

 private:
  MemoryBudget budget_{0};
  std::unique_ptr<EmbeddingTable> table_;
  std::vector<OptimizerStep> steps_;
  RowRefs refs_;
  Rows rows_;
};

class ShardUnderTest {
 public:
  explicit ShardUnderTest(const BenchTable& bench)
      : rows_(bench), records_(bench) {
    records_.dynamic = false;  // both kinds have equal records
    shard_ = *ParameterShard::Create(BenchShardOptions(bench), &executor_);
    shard_->ServeUntil(absl::InfiniteFuture());
    ForAllIds(bench.rows(),
              [&](absl::Span<const FeatureId> ids) { Pull(ids); });
  }

  // Measures other memory with records of the same size.
  double Ceiling(const Batches& batches, bool push) {
    const Bare& bare = Kept<Bare>(records_);
    return push ? bare.records.UpdateRate(batches)
                : bare.records.ReadRate(batches, bare.layout.read_bytes());
  }

  void Pull(absl::Span<const FeatureId> ids) {
    PullRequest request;
    request.identity = BenchIdentity();
    const size_t row_dim = rows_.values.size() / kIdsPerBatch;
    request.tables = {
        {0, ids, absl::MakeSpan(rows_.values).first(ids.size() * row_dim)}};
    shard_->Pull(std::move(request), absl::Seconds(10),
                 [](absl::StatusOr<PullReply> reply) {
                   if (!reply.ok()) std::abort();
                 });
    executor_.Drain();
  }

  void Push(absl::Span<const FeatureId> ids) {
    PushRequest request;
    request.identity = BenchIdentity();
    request.batches = {{.id = {0, pushes_ / 1024, pushes_ % 1024}}};
    request.tables = {{0, ids, rows_.gradients}};
    shard_->Push(std::move(request), absl::Seconds(10),
                 [](absl::StatusOr<PushReply> reply) {
                   if (!reply.ok() || reply->repeat) std::abort();
                 });
    executor_.Drain();
    if (++pushes_ % 1024 == 0) shard_->TakeMarks();
  }

 private:
  struct Bare {
    explicit Bare(const BenchTable& table)
        : layout(table.spec()), records(table.rows(), layout.stride()) {}
    const RecordLayout layout;
    const RandomRecords records;
  };

  QueueExecutor executor_;
  std::unique_ptr<ParameterShard> shard_;
  uint32_t pushes_ = 0;
  Rows rows_;
  BenchTable records_;
};

const Batches& BatchesOf(IdLaw law, uint64_t rows) {
  struct Made {
    explicit Made(const std::pair<IdLaw, uint64_t>& key)
        : batches(DistinctIdBatches(key.first, key.second, kIdsPerBatch,
                                    kBatches)) {}
    const Batches batches;
  };
  return Kept<Made>(std::make_pair(law, rows)).batches;
}

template <typename Subject>
void BM_Rows(benchmark::State& state, BenchTable table, IdLaw law, bool push) {
  const Batches& batches = BatchesOf(law, table.rows());
  Subject& subject = Kept<Subject>(table);
  double best = subject.Ceiling(batches, push) / 2;
  size_t next = 0;
  const double start = ThreadCpuSeconds();
  for (auto _ : state) {
    const std::vector<FeatureId>& ids = batches[next++ % kBatches];
    push ? subject.Push(ids) : subject.Pull(ids);
  }
  const double seconds = ThreadCpuSeconds() - start;
  best += subject.Ceiling(batches, push) / 2;
  const double rate =
      static_cast<double>(state.iterations() * kIdsPerBatch) / seconds;
  state.counters["Mrows/s"] = 1e-6 * rate;
  state.counters["ceiling"] = 1e-6 * best;
  state.counters["share"] = rate / best;
}

// Pulls that create their rows. Argument: the initial values, 0 zeros, 1
// truncated normal, 2 uniform.
void BM_FirstTouch(benchmark::State& state) {
  constexpr uint64_t kRows = 1 << 20;
  TableSpec spec = BenchTable{}.spec();
  spec.feature_size = kRows;
  spec.columns[1].initializer = {static_cast<InitializerKind>(state.range(0)),
                                 0.01f};
  if (state.range(0) == 0) spec.columns[1].initializer = {};
  std::vector<float> values(8192 * spec.row_dim());
  double seconds = 0;
  for (auto _ : state) {
    MemoryBudget budget(0);
    const auto table = *CreateEmbeddingTable(
        spec, 1, {PartitionKind::kFixedSize, kRows, 1}, 0, &budget);
    RowRefs refs;
    const double start = ThreadCpuSeconds();
    ForAllIds(kRows, [&](absl::Span<const FeatureId> ids) {
      if (!table->Locate(ids, /*read_only=*/false, &refs).ok()) std::abort();
      table->Gather(ids, /*read_only=*/false, &refs, absl::MakeSpan(values));
    });
    seconds += ThreadCpuSeconds() - start;
  }
  state.counters["ns/row"] =
      1e9 * seconds / static_cast<double>(state.iterations() * kRows);
}
BENCHMARK(BM_FirstTouch)
    ->Name("FirstTouch")
    ->ArgName("initializer")
    ->DenseRange(0, 2)
    ->Iterations(2)
    ->Unit(benchmark::kMillisecond);

template <typename Subject>
void Register(const std::string& pull, const std::string& push) {
  ForAllTables([&](const BenchTable& table, IdLaw law, absl::string_view name) {
    for (const std::string& what : {pull, push}) {
      benchmark::RegisterBenchmark(absl::StrCat(what, "/", name).c_str(),
                                   BM_Rows<Subject>, table, law, what == push)
          ->Iterations(kIterations)
          ->Unit(benchmark::kMicrosecond);
    }
  });
}

}  // namespace
}  // namespace shoal

int main(int argc, char** argv) {
  shoal::Register<shoal::TableUnderTest>("Gather", "Apply");
  shoal::Register<shoal::ShardUnderTest>("Pull", "Push");
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
