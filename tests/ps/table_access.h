#ifndef SHOAL_TESTS_PS_TABLE_ACCESS_H_
#define SHOAL_TESTS_PS_TABLE_ACCESS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/model_spec.h"
#include "gtest/gtest.h"
#include "ps/optimizer/optimizer_step.h"
#include "ps/table/embedding_table.h"

namespace shoal {

inline OptimizerSpec TestOptimizer(OptimizerKind kind) {
  OptimizerSpec spec;
  spec.kind = kind;
  spec.learning_rate = 1;
  spec.adagrad_initial_accumulator = 0.5f;
  return spec;
}

// "w" dim 1 Adagrad zeros, "v" dim 5 Adam normal, "u" dim 2 SGD uniform: rows
// of 8 floats in records of 96 bytes.
inline TableSpec TestTable(uint64_t feature_size) {
  TableSpec spec;
  spec.name = "ids";
  spec.feature_size = feature_size;
  spec.columns = {{"w", 1, TestOptimizer(OptimizerKind::kAdagrad), {}},
                  {"v",
                   5,
                   TestOptimizer(OptimizerKind::kAdam),
                   {InitializerKind::kTruncatedNormal, 0.1f}},
                  {"u",
                   2,
                   TestOptimizer(OptimizerKind::kSgd),
                   {InitializerKind::kUniform, 0.1f}}};
  return spec;
}

// One column of `dim` floats from 0 at SGD's rate 1: a gradient of -1 adds 1 to
// each, exactly.
inline TableSpec CountingTable(uint64_t feature_size, int dim) {
  TableSpec spec;
  spec.name = "ids";
  spec.feature_size = feature_size;
  spec.columns = {{"u", dim, TestOptimizer(OptimizerKind::kSgd), {}}};
  return spec;
}

inline std::vector<OptimizerStep> Steps(const EmbeddingTable& table,
                                        uint64_t t) {
  std::vector<OptimizerStep> steps;
  for (const ColumnSpec& column : table.spec().columns) {
    steps.emplace_back(column.optimizer, t);
  }
  return steps;
}

inline std::vector<float> Read(EmbeddingTable* table,
                               const std::vector<FeatureId>& ids,
                               bool read_only = false) {
  std::vector<float> values(ids.size() * table->layout().row_dim());
  RowRefs refs;
  const absl::Status located = table->Locate(ids, read_only, &refs);
  EXPECT_TRUE(located.ok()) << located;
  if (located.ok()) {
    table->Gather(ids, read_only, &refs, absl::MakeSpan(values));
  }
  return values;
}

inline absl::Status Update(EmbeddingTable* table, uint64_t t,
                           const std::vector<FeatureId>& ids,
                           const std::vector<float>& gradients) {
  RowRefs refs;
  const absl::Status located = table->Locate(ids, /*read_only=*/false, &refs);
  if (!located.ok()) return located;
  table->Apply(Steps(*table, t), /*colour=*/0, ids, &refs, gradients);
  return absl::OkStatus();
}

}  // namespace shoal

#endif  // SHOAL_TESTS_PS_TABLE_ACCESS_H_
