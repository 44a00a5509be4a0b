#include "partitioner/balance.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "base/check.h"
#include "partitioner/table_partition.h"

namespace shoal {
namespace {

double MaxOverMean(const BalanceReport& report, uint64_t ShardLoad::*field) {
  double sum = 0;
  double max = 0;
  for (const ShardLoad& load : report) {
    const double value = static_cast<double>(load.*field);
    sum += value;
    max = std::max(max, value);
  }
  if (sum == 0) return 1;
  return max * static_cast<double>(report.size()) / sum;
}

}  // namespace

BalanceReport PlanBalance(const ModelSpec& model, const ShardMap& map) {
  SHOAL_DCHECK(map.tables.size() == model.tables.size());
  BalanceReport report(map.num_shards);
  for (size_t t = 0; t < model.tables.size(); ++t) {
    const TableSpec& table = model.tables[t];
    if (table.on_every_shard) continue;
    const uint64_t row_bytes =
        sizeof(float) * (table.row_dim() + table.slot_dim());
    for (int shard = 0; shard < map.num_shards; ++shard) {
      const uint64_t rows = RowsOnShard(map.tables[t], shard);
      report[shard].rows += rows;
      report[shard].bytes += rows * row_bytes;
    }
  }
  for (const DenseBlock& block : map.blocks) {
    const DenseSpec& variable = model.dense[block.variable];
    report[block.shard].bytes +=
        sizeof(float) *
        (block.size() + variable.optimizer.slot_floats(block.size()));
  }
  return report;
}

double BytesSkew(const BalanceReport& report) {
  return MaxOverMean(report, &ShardLoad::bytes);
}

double RowsSkew(const BalanceReport& report) {
  return MaxOverMean(report, &ShardLoad::rows);
}

double LookupsSkew(const BalanceReport& report) {
  return MaxOverMean(report, &ShardLoad::lookups);
}

std::string FormatBalance(const BalanceReport& report) {
  std::string text = absl::StrFormat("%-8s %16s %14s %16s\n", "shard", "bytes",
                                     "rows", "look-ups");
  for (size_t shard = 0; shard < report.size(); ++shard) {
    absl::StrAppendFormat(&text, "%-8d %16d %14d %16d\n", shard,
                          report[shard].bytes, report[shard].rows,
                          report[shard].lookups);
  }
  absl::StrAppendFormat(&text, "%-8s %16.3f %14.3f %16.3f\n", "max/mean",
                        BytesSkew(report), RowsSkew(report),
                        LookupsSkew(report));
  return text;
}

}  // namespace shoal
