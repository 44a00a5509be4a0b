#include "tests/ps/step_push.h"

#include <cmath>
#include <cstddef>

#include "absl/types/span.h"
#include "base/stable_hash.h"
#include "gtest/gtest.h"
#include "partitioner/table_partition.h"

namespace shoal {
namespace {

constexpr int kRowDim = 3;
constexpr int kDense = 6 * 5 + 7;

// Numbers of both signs and sizes from 2^-6 to 2^6, so that every order of
// additions has bits of its own.
float Draw(uint64_t key) {
  const uint64_t hash = StableHash(key);
  const int exponent = static_cast<int>(hash >> 8 & 0xff) % 13 - 6;
  const float size = std::ldexp(1 + 0x1p-32f * (hash >> 32), exponent);
  return hash % 2 == 0 ? size : -size;
}

uint32_t ExamplesOf(uint32_t rank, uint32_t step) {
  return 5 + (rank + step) % 3;
}

}  // namespace

ModelSpec StepModel(OptimizerKind kind) {
  OptimizerSpec optimizer;
  optimizer.kind = kind;
  optimizer.learning_rate = 0.1f;
  const InitializerSpec uniform = {InitializerKind::kUniform, 1};
  ModelSpec model;
  model.model = "test";
  model.seed = 3;
  model.tables = {{"ids",
                   kStepFeatures,
                   {{"w", 1, optimizer, uniform}, {"v", 2, optimizer, {}}}}};
  model.dense = {{"kernel", {6, 5}, optimizer, uniform},
                 {"bias", {7}, optimizer, {}}};
  return model;
}

BatchGradient GradientOf(uint32_t rank, uint32_t step) {
  const uint64_t key = StableHashCombine(rank, step);
  BatchGradient gradient;
  gradient.batch = {0, rank, step};
  for (uint64_t k = 0; k < 20; ++k) {
    std::vector<float>& row =
        gradient.rows[StableHashCombine(key, k) % kStepFeatures];
    row.clear();
    for (int d = 0; d < kRowDim; ++d) row.push_back(Draw(key + k * 8 + d));
  }
  for (int d = 0; d < kDense; ++d) gradient.dense.push_back(Draw(key ^ ~d));
  return gradient;
}

BatchGradient SerialSum(absl::Span<const PushedBatch> batches,
                        const std::set<BatchId>& without) {
  BatchGradient sum;
  float examples = 0;
  for (const PushedBatch& batch : batches) {
    if (batch.rejected) continue;
    const BatchGradient part = GradientOf(batch.id.piece, batch.id.index);
    examples += static_cast<float>(batch.examples);
    if (without.contains(batch.id)) continue;
    if (sum.dense.empty()) {
      sum = part;
      continue;
    }
    sum.more.push_back({.id = part.batch, .lease = 1});
    for (const auto& [id, row] : part.rows) {
      const auto [it, first] = sum.rows.try_emplace(id, row);
      if (first) continue;
      for (int d = 0; d < kRowDim; ++d) it->second[d] += row[d];
    }
    for (int d = 0; d < kDense; ++d) sum.dense[d] += part.dense[d];
  }
  for (auto& [id, row] : sum.rows) {
    for (float& value : row) value /= examples;
  }
  for (float& value : sum.dense) value /= examples;
  return sum;
}

PushedBatch StepBatchOf(uint32_t rank, uint32_t step) {
  return {.id = {0, rank, step},
          .lease = 1,
          .examples = ExamplesOf(rank, step)};
}

StepClosed ClosedWith(uint64_t step, const std::vector<uint32_t>& ranks,
                      bool hold) {
  StepClosed closed{.step = step, .hold = hold};
  for (const uint32_t rank : ranks) {
    closed.batches.push_back(StepBatchOf(rank, static_cast<uint32_t>(step)));
  }
  return closed;
}

uint64_t SerialDigest(OptimizerKind kind,
                      const std::vector<std::vector<uint32_t>>& steps) {
  ShardSet serial(StepModel(kind), PartitionKind::kFixedSize, 1);
  for (uint32_t i = 0; i < steps.size(); ++i) {
    const StepClosed closed = ClosedWith(i + 1, steps[i]);
    EXPECT_TRUE(serial.Push(0, SerialSum(closed.batches)).ok());
  }
  return serial.Digest();
}

StepPush::StepPush(const ShardMap& map, int shard, const CallIdentity& identity,
                   uint32_t rank, uint32_t step,
                   const BatchGradient& gradient)
    : dense(gradient.dense) {
  for (const auto& [id, row] : gradient.rows) {
    if (ShardOf(map.tables[0], id) != shard) continue;
    ids.push_back(id);
    rows.insert(rows.end(), row.begin(), row.end());
  }
  request.identity = identity;
  request.identity.worker = {1, 100 + rank};
  request.batches = {StepBatchOf(rank, step)};
  request.pulled = {identity.shard, step - 1};
  request.step = step;
  if (!ids.empty()) request.tables = {{0, ids, rows}};
  for (size_t b = 0; b < map.blocks.size(); ++b) {
    const DenseBlock& block = map.blocks[b];
    if (block.shard != shard || dense.empty()) continue;
    request.blocks.push_back({static_cast<uint32_t>(b),
                              absl::MakeConstSpan(dense).subspan(
                                  block.flat_begin, block.size())});
  }
}

}  // namespace shoal
