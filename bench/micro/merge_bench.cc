// The rows of several ranks merged by id (core/row_merge.h), on one thread. The
// ids are those of synthetic rows (bench/micro/bench_rows.h): each rank has the
// distinct ids of a batch of 1,024 examples.
//
//   bytes_per_second   bytes of the ranks' rows ÷ CPU time of the thread
//   items_per_second   rows of the ranks ÷ CPU time
//   distinct           distinct ids ÷ rows of the ranks
//
// Floor: a merge finds the distinct ids, reads each row once, and writes or
// changes one row for it. So its time cannot be less than that of Dedup, which
// finds the same distinct ids, plus that of CopyRows, which copies the same
// rows (their bytes ÷ the bandwidth of copies).
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "bench/micro/bench_rows.h"
#include "core/row_merge.h"
#include "core/unique_ids.h"

namespace shoal {
namespace {

// The row gradients of one step. Arguments: ranks; floats of a row, 17 in net A
// and 33 in net B.
struct StepRows {
  explicit StepRows(const benchmark::State& state)
      : row_dim(static_cast<int>(state.range(1))) {
    for (const auto& batch : BenchRowIds(state.range(0), 1024)) {
      UniqueIds unique;
      unique.Build(batch);
      const std::vector<FeatureId>& distinct = unique.distinct();
      ids.push_back(distinct);
      rows.emplace_back(distinct.size() * row_dim, 0.125f);
      all_ids.insert(all_ids.end(), distinct.begin(), distinct.end());
    }
    for (size_t r = 0; r < ids.size(); ++r) ranks.push_back({ids[r], rows[r]});
  }

  void Count(size_t distinct, benchmark::State& state) const {
    const auto all = static_cast<int64_t>(all_ids.size());
    state.SetItemsProcessed(state.iterations() * all);
    state.SetBytesProcessed(state.iterations() * all * row_dim *
                            static_cast<int64_t>(sizeof(float)));
    state.counters["distinct"] = 1.0 * distinct / all;
  }

  const int row_dim;
  std::vector<std::vector<FeatureId>> ids;
  std::vector<std::vector<float>> rows;
  std::vector<RowGradients> ranks;
  std::vector<FeatureId> all_ids;
};

void MergeRows(benchmark::State& state) {
  const StepRows step(state);
  RowMerge merge;
  for (auto _ : state) {
    merge.Build(step.row_dim, step.ranks);
    benchmark::DoNotOptimize(merge.rows().data());
    benchmark::ClobberMemory();
  }
  step.Count(merge.ids().size(), state);
}

void CopyRows(benchmark::State& state) {
  const StepRows step(state);
  std::vector<float> copy(step.all_ids.size() * step.row_dim);
  for (auto _ : state) {
    float* to = copy.data();
    for (const auto& rows : step.rows) {
      to = std::copy(rows.begin(), rows.end(), to);
    }
    benchmark::DoNotOptimize(copy.data());
    benchmark::ClobberMemory();
  }
  step.Count(step.all_ids.size(), state);
}

void Dedup(benchmark::State& state) {
  const StepRows step(state);
  UniqueIds unique;
  for (auto _ : state) {
    unique.Build(step.all_ids);
    benchmark::DoNotOptimize(unique.inverse().data());
    benchmark::ClobberMemory();
  }
  step.Count(unique.distinct().size(), state);
}

void Arguments(benchmark::internal::Benchmark* of) {
  of->ArgNames({"ranks", "row_dim"})->ArgsProduct({{2, 4}, {17, 33}});
}
BENCHMARK(MergeRows)->Apply(Arguments);
BENCHMARK(CopyRows)->Apply(Arguments);
BENCHMARK(Dedup)->Apply(Arguments);

}  // namespace
}  // namespace shoal

BENCHMARK_MAIN();
