#include "ps/shard/shard_stats.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "core/canary.h"

namespace shoal {
namespace {

CanaryStats CheckCanary(const EmbeddingTable& table) {
  CanaryStats canary;
  table.ForEachRow([&](FeatureId, absl::Span<const float> weights) {
    const float value = weights[0];
    const bool first = canary.rows++ == 0;
    canary.not_one += value != 1;
    canary.smallest = first ? value : std::min(canary.smallest, value);
    canary.largest = first ? value : std::max(canary.largest, value);
  });
  return canary;
}

}  // namespace

uint64_t CountForeignCanaries(const ShardContents& contents,
                              StartNumber start) {
  const float own = CanaryOfStart(start);
  uint64_t foreign = 0;
  for (const std::unique_ptr<EmbeddingTable>& table : contents.tables) {
    if (!table->spec().on_every_shard) continue;
    table->ForEachRow([&](FeatureId, absl::Span<const float> weights) {
      foreign += weights[1] != own;
    });
  }
  return foreign;
}

std::vector<VariableStats> CountVariables(const ShardContents& contents,
                                          const ModelSpec& model) {
  std::vector<VariableStats> variables;
  for (const std::unique_ptr<EmbeddingTable>& table : contents.tables) {
    if (table->spec().on_every_shard) continue;
    const uint64_t rows = table->rows();
    for (const ColumnSpec& column : table->spec().columns) {
      VariableStats stats;
      stats.variable = column.variable;
      stats.rows = rows;
      stats.bytes = rows * sizeof(float) *
                    (column.dim + column.optimizer.slot_floats(column.dim));
      variables.push_back(std::move(stats));
    }
  }
  const std::vector<uint64_t> dense_bytes = contents.dense->BytesByVariable();
  for (size_t i = 0; i < dense_bytes.size(); ++i) {
    VariableStats stats;
    stats.variable = model.dense[i].name;
    stats.bytes = dense_bytes[i];
    variables.push_back(std::move(stats));
  }
  return variables;
}

void AddContents(const ShardContents& contents, const ModelSpec& model,
                 StatsReply* reply) {
  for (const std::unique_ptr<EmbeddingTable>& each : contents.tables) {
    const EmbeddingTable& table = *each;
    if (table.spec().on_every_shard) {
      reply->canary = CheckCanary(table);
      continue;
    }
    reply->rows += table.rows();
    reply->digest += table.Digest();
  }
  reply->variables = CountVariables(contents, model);
  for (const VariableStats& v : reply->variables) reply->bytes += v.bytes;
  reply->digest += contents.dense->Digest();
}

}  // namespace shoal
