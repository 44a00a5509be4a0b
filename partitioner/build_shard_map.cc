#include "partitioner/build_shard_map.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "partitioner/fixed_size.h"
#include "partitioner/greedy.h"

namespace shoal {
namespace {

constexpr int kMaxShards = 65535;
constexpr int64_t kBytesPerElement = sizeof(float);

absl::StatusOr<PartitionKind> KindOf(const TableSpec& table,
                                     const PartitionOptions& options) {
  if (table.on_every_shard) return PartitionKind::kEveryShard;
  if (table.dynamic()) return PartitionKind::kHash;
  if (options.table_kind == PartitionKind::kFixedSize ||
      options.table_kind == PartitionKind::kMod) {
    return options.table_kind;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("table '", table.name,
                   "' has a feature_size, so it is an array: place it by "
                   "fixed_size or mod; hash is for dynamic tables"));
}

// Adds the blocks of one variable that is cut along axis 0, one for each shard
// that gets a row.
void CutVariable(const DenseSpec& spec, int variable, int64_t flat_begin,
                 int num_shards, std::vector<int64_t>* load,
                 std::vector<DenseBlock>* blocks) {
  for (int shard = 0; shard < num_shards; ++shard) {
    DenseBlock block;
    block.variable = variable;
    block.begin =
        FixedSizeBegin(spec.axis0(), num_shards, shard) * spec.row_size();
    block.end =
        FixedSizeBegin(spec.axis0(), num_shards, shard + 1) * spec.row_size();
    block.shard = shard;
    block.flat_begin = flat_begin + block.begin;
    if (block.size() == 0) return;  // fewer rows than shards
    (*load)[shard] += block.size() * kBytesPerElement;
    blocks->push_back(block);
  }
}

absl::Status CheckNumShards(Replicate replicate, int num_shards) {
  if (num_shards < 1 || num_shards > kMaxShards) {
    return absl::InvalidArgumentError(
        absl::StrCat("the number of shards is ", num_shards,
                     "; it must be in [1, ", kMaxShards, "]"));
  }
  if (replicate == Replicate::kAll && num_shards != 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the replicated shard holds every variable, so it is the only shard; "
        "the number of shards is ", num_shards));
  }
  if (replicate == Replicate::kDense && num_shards < 2) {
    return absl::InvalidArgumentError(
        "the replicated shard holds dense variables alone, so at least one "
        "other shard must hold the rows of tables; the number of shards is 1");
  }
  return absl::OkStatus();
}

// Places every dense variable whole on one shard.
void PlaceDenseOn(int shard, const ModelSpec& model, ShardMap* map) {
  int64_t flat_begin = 0;
  for (size_t v = 0; v < model.dense.size(); ++v) {
    const int64_t size = model.dense[v].size();
    map->blocks.push_back({static_cast<int>(v), 0, size, shard, flat_begin});
    flat_begin += size;
  }
}

// Cuts large dense variables, and places small ones where there is room.
void SpreadDense(const ModelSpec& model, const PartitionOptions& options,
                 ShardMap* map) {
  std::vector<int64_t> load(map->num_shards, 0);
  std::vector<DenseBlock> whole;
  int64_t flat_begin = 0;
  for (size_t v = 0; v < model.dense.size(); ++v) {
    const DenseSpec& spec = model.dense[v];
    const int variable = static_cast<int>(v);
    if (spec.axis0() > 1 &&
        spec.size() * kBytesPerElement >= options.cut_dense_bytes) {
      CutVariable(spec, variable, flat_begin, map->num_shards, &load,
                  &map->blocks);
    } else {
      whole.push_back({variable, 0, spec.size(), 0, flat_begin});
    }
    flat_begin += spec.size();
  }

  // The largest first, so that small variables even out the load at the end.
  // The sort is stable: variables of equal size stay in the model's order on
  // every machine.
  std::stable_sort(whole.begin(), whole.end(),
                   [](const DenseBlock& a, const DenseBlock& b) {
                     return a.size() > b.size();
                   });
  std::vector<int64_t> bytes;
  for (const DenseBlock& block : whole) {
    bytes.push_back(block.size() * kBytesPerElement);
  }
  const std::vector<int> shard_of = PlaceGreedily(bytes, &load);
  for (size_t i = 0; i < whole.size(); ++i) {
    whole[i].shard = shard_of[i];
    map->blocks.push_back(whole[i]);
  }
  std::sort(map->blocks.begin(), map->blocks.end(),
            [](const DenseBlock& a, const DenseBlock& b) {
              return a.flat_begin < b.flat_begin;
            });
}

}  // namespace

absl::StatusOr<ShardMap> BuildShardMap(const ModelSpec& model,
                                       const PartitionOptions& options,
                                       int num_shards) {
  SHOAL_RETURN_IF_ERROR(CheckNumShards(options.replicate, num_shards));
  SHOAL_RETURN_IF_ERROR(model.Validate());
  ShardMap map;
  map.num_shards = num_shards;
  if (options.replicate != Replicate::kNothing) map.replicated = num_shards - 1;
  for (const TableSpec& table : model.tables) {
    SHOAL_ASSIGN_OR_RETURN(const PartitionKind kind, KindOf(table, options));
    map.tables.push_back({kind, table.feature_size, map.ShardsOf(kind)});
  }
  if (map.replicated >= 0) {
    PlaceDenseOn(map.replicated, model, &map);
  } else {
    SpreadDense(model, options, &map);
  }
  return map;
}

}  // namespace shoal
