#include "bench/micro/bench_shard.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "ps/table/record_layout.h"

namespace shoal {
namespace {

OptimizerSpec Optimizer(OptimizerKind kind) {
  OptimizerSpec spec;
  spec.kind = kind;
  spec.learning_rate = 0.01f;
  return spec;
}

TableSpec Spec(uint64_t feature_size, int dim) {
  const OptimizerSpec adagrad = Optimizer(OptimizerKind::kAdagrad);
  return {
      "ids", feature_size, {{"w", 1, adagrad, {}}, {"v", dim, adagrad, {}}}};
}

}  // namespace

uint64_t BenchTable::rows() const {
  return (gib << 30) / RecordLayout(Spec(0, dim)).stride();
}

TableSpec BenchTable::spec() const { return Spec(dynamic ? 0 : rows(), dim); }

void ForAllTables(
    absl::FunctionRef<void(const BenchTable&, IdLaw, const std::string&)>
        visit) {
  for (const uint64_t gib : {1, 4}) {
    for (const int dim : {16, 32}) {
      for (const bool dynamic : {false, true}) {
        for (const IdLaw law : {IdLaw::kUniform, IdLaw::kZipf}) {
          visit({dynamic, dim, gib}, law,
                absl::StrCat(dynamic ? "hash" : "array", "/",
                             dim == 16 ? "A" : "B", "/", gib, "GiB/",
                             law == IdLaw::kZipf ? "zipf" : "uniform"));
        }
      }
    }
  }
}

ParameterShardOptions BenchShardOptions(const BenchTable& table,
                                        int64_t dense) {
  ParameterShardOptions options;
  options.job = "bench";
  options.model.model = "bench";
  options.model.tables = {table.spec()};
  options.map.tables = {{PartitionKind::kFixedSize, table.rows(), 1}};
  if (table.dynamic) options.map.tables = {{PartitionKind::kHash, 0, 1}};
  if (dense > 0) {
    options.model.dense = {
        {"dense", {dense}, Optimizer(OptimizerKind::kSgd), {}}};
    options.map.blocks = {{0, 0, dense, 0, 0}};
  }
  options.life = {1, 1};
  return options;
}

void ForAllIds(uint64_t rows,
               absl::FunctionRef<void(absl::Span<const FeatureId>)> visit) {
  constexpr uint64_t kAtOnce = 8192;
  std::vector<FeatureId> ids;
  for (FeatureId first = 0; first < rows; first += kAtOnce) {
    ids.clear();
    for (FeatureId id = first; id < std::min(rows, first + kAtOnce); ++id) {
      ids.push_back(id);
    }
    visit(ids);
  }
}

void QueueExecutor::Drain() {
  for (Task& task : std::exchange(tasks_, {})) std::move(task)();
}

}  // namespace shoal
