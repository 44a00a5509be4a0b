#include "checkpoint/model_json.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace shoal {
namespace {

constexpr size_t kNameMax = 512;
constexpr size_t kVariablesMax = 16384;
constexpr size_t kBlocksMax = size_t{1} << 20;
constexpr size_t kRankMax = 8;
constexpr int kDimMax = 1 << 16;

// Names of enumerators, in their order.
constexpr const char* kInitializers[] = {"zeros", "truncated_normal",
                                         "uniform"};
constexpr const char* kL2Scopes[] = {"touched", "table"};
constexpr const char* kWhenFull[] = {"refuse", "share"};
constexpr const char* kPartitions[] = {"fixed_size", "mod", "hash",
                                       "every_shard"};

template <typename Enum, size_t n>
Enum ReadName(const JsonNode& node, const char* const (&names)[n]) {
  const std::string name = node.String(kNameMax);
  for (size_t i = 0; i < n; ++i) {
    if (name == names[i]) return static_cast<Enum>(i);
  }
  node.Fail("is not a name that this Shoal knows");
  return static_cast<Enum>(0);
}

template <typename Enum, size_t n>
const char* NameOf(Enum value, const char* const (&names)[n]) {
  return names[static_cast<size_t>(value)];
}

void WriteOptimizer(const OptimizerSpec& spec, JsonWriter* writer) {
  JsonWriter& w = *writer;
  w.BeginObject();
  w.Key("kind").String(OptimizerName(spec.kind));
  w.Key("learning_rate").Float(spec.learning_rate);
  w.Key("warmup_batches").U64(spec.warmup_batches);
  w.Key("l2").Float(spec.l2);
  w.Key("l2_scope").String(NameOf(spec.l2_scope, kL2Scopes));
  w.Key("adagrad_initial_accumulator").Float(spec.adagrad_initial_accumulator);
  w.Key("ftrl_initial_accumulator").Float(spec.ftrl_initial_accumulator);
  w.Key("ftrl_l1").Float(spec.ftrl_l1);
  w.Key("ftrl_l2").Float(spec.ftrl_l2);
  w.Key("adam_beta1").Float(spec.adam_beta1);
  w.Key("adam_beta2").Float(spec.adam_beta2);
  w.Key("adam_epsilon").Float(spec.adam_epsilon);
  w.EndObject();
}

OptimizerSpec ReadOptimizer(const JsonNode& node) {
  OptimizerSpec spec;
  const JsonNode kind_node = node.Field("kind");
  const auto kind = ParseOptimizerKind(kind_node.String(kNameMax));
  if (kind.ok()) {
    spec.kind = *kind;
  } else {
    kind_node.Fail("is not an optimizer that this Shoal knows");
  }
  spec.learning_rate = node.Field("learning_rate").Float();
  spec.warmup_batches = node.Field("warmup_batches").U64();
  spec.l2 = node.Field("l2").Float();
  spec.l2_scope = ReadName<L2Scope>(node.Field("l2_scope"), kL2Scopes);
  spec.adagrad_initial_accumulator =
      node.Field("adagrad_initial_accumulator").Float();
  spec.ftrl_initial_accumulator =
      node.Field("ftrl_initial_accumulator").Float();
  spec.ftrl_l1 = node.Field("ftrl_l1").Float();
  spec.ftrl_l2 = node.Field("ftrl_l2").Float();
  spec.adam_beta1 = node.Field("adam_beta1").Float();
  spec.adam_beta2 = node.Field("adam_beta2").Float();
  spec.adam_epsilon = node.Field("adam_epsilon").Float();
  return spec;
}

void WriteInitializer(const InitializerSpec& spec, JsonWriter* writer) {
  writer->BeginObject();
  writer->Key("kind").String(NameOf(spec.kind, kInitializers));
  writer->Key("scale").Float(spec.scale);
  writer->EndObject();
}

InitializerSpec ReadInitializer(const JsonNode& node) {
  InitializerSpec spec;
  spec.kind = ReadName<InitializerKind>(node.Field("kind"), kInitializers);
  spec.scale = node.Field("scale").Float();
  return spec;
}

void WriteTable(const TableSpec& table, JsonWriter* writer) {
  JsonWriter& w = *writer;
  w.BeginObject();
  w.Key("name").String(table.name);
  w.Key("feature_size").U64(table.feature_size);
  w.Key("row_limit").U64(table.row_limit);
  w.Key("when_full").String(NameOf(table.when_full, kWhenFull));
  w.Key("on_every_shard").Bool(table.on_every_shard);
  w.Key("columns").BeginArray();
  for (const ColumnSpec& column : table.columns) {
    w.BeginObject();
    w.Key("variable").String(column.variable);
    w.Key("dim").U64(column.dim);
    w.Key("optimizer");
    WriteOptimizer(column.optimizer, writer);
    w.Key("initializer");
    WriteInitializer(column.initializer, writer);
    w.EndObject();
  }
  w.EndArray();
  w.EndObject();
}

TableSpec ReadTable(const JsonNode& node) {
  TableSpec table;
  table.name = node.Field("name").Bytes(kNameMax);
  table.feature_size = node.Field("feature_size").U64();
  table.row_limit = node.Field("row_limit").U64();
  table.when_full = ReadName<TableFull>(node.Field("when_full"), kWhenFull);
  table.on_every_shard = node.Field("on_every_shard").Bool();
  const JsonNode columns = node.Field("columns");
  const size_t count = columns.Size(kVariablesMax);
  for (size_t i = 0; i < count; ++i) {
    const JsonNode item = columns.At(i);
    ColumnSpec column;
    column.variable = item.Field("variable").Bytes(kNameMax);
    column.dim = item.Field("dim").Int(kDimMax);
    column.optimizer = ReadOptimizer(item.Field("optimizer"));
    column.initializer = ReadInitializer(item.Field("initializer"));
    table.columns.push_back(std::move(column));
  }
  return table;
}

absl::Status CheckBlocks(const ModelSpec& model, const ShardMap& map) {
  // Blocks are ascending, so the blocks of a variable are neighbours.
  std::vector<int64_t> covered(model.dense.size());
  for (const DenseBlock& block : map.blocks) {
    if (block.variable < 0 ||
        block.variable >= static_cast<int>(model.dense.size())) {
      return absl::InvalidArgumentError("a block belongs to no dense variable");
    }
    const DenseSpec& variable = model.dense[block.variable];
    int64_t& next = covered[block.variable];
    if (block.begin != next || block.end <= block.begin ||
        block.end > variable.size() || block.shard < 0 ||
        block.shard >= map.num_shards) {
      return absl::InvalidArgumentError(
          absl::StrCat("the block [", block.begin, ", ", block.end,
                       ") of variable '", variable.name, "' on shard ",
                       block.shard,
                       " does not follow the block before it, or its end or "
                       "shard is out of range"));
    }
    next = block.end;
  }
  for (size_t i = 0; i < covered.size(); ++i) {
    if (covered[i] == model.dense[i].size()) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("the blocks of variable '", model.dense[i].name,
                     "' cover only ", covered[i], " of its elements"));
  }
  return absl::OkStatus();
}

}  // namespace

void WriteModel(const ModelSpec& model, JsonWriter* writer) {
  JsonWriter& w = *writer;
  w.BeginObject(/*lines=*/true);
  w.Key("model").String(model.model);
  w.Key("seed").U64(model.seed);
  w.Key("tables").BeginArray(/*lines=*/true);
  for (const TableSpec& table : model.tables) WriteTable(table, writer);
  w.EndArray();
  w.Key("dense").BeginArray(/*lines=*/true);
  for (const DenseSpec& dense : model.dense) {
    w.BeginObject();
    w.Key("name").String(dense.name);
    w.Key("shape").BeginArray();
    for (const int64_t length : dense.shape) w.U64(length);
    w.EndArray();
    w.Key("optimizer");
    WriteOptimizer(dense.optimizer, writer);
    w.Key("initializer");
    WriteInitializer(dense.initializer, writer);
    w.EndObject();
  }
  w.EndArray();
  w.EndObject();
}

ModelSpec ReadModel(const JsonNode& node) {
  ModelSpec model;
  model.model = node.Field("model").Bytes(kNameMax);
  model.seed = node.Field("seed").U64();
  const JsonNode tables = node.Field("tables");
  const size_t table_count = tables.Size(kVariablesMax);
  for (size_t i = 0; i < table_count; ++i) {
    model.tables.push_back(ReadTable(tables.At(i)));
  }
  const JsonNode dense = node.Field("dense");
  const size_t dense_count = dense.Size(kVariablesMax);
  for (size_t i = 0; i < dense_count; ++i) {
    const JsonNode item = dense.At(i);
    DenseSpec spec;
    spec.name = item.Field("name").Bytes(kNameMax);
    const JsonNode shape = item.Field("shape");
    const size_t rank = shape.Size(kRankMax);
    for (size_t k = 0; k < rank; ++k) spec.shape.push_back(shape.At(k).I64());
    spec.optimizer = ReadOptimizer(item.Field("optimizer"));
    spec.initializer = ReadInitializer(item.Field("initializer"));
    model.dense.push_back(std::move(spec));
  }
  if (node.ok()) {
    const absl::Status valid = model.Validate();
    if (!valid.ok()) node.Fail(valid.message());
  }
  return model;
}

void WritePartition(const ShardMap& map, JsonWriter* writer) {
  JsonWriter& w = *writer;
  w.BeginObject();
  w.Key("map_version").U64(map.version);
  w.Key("num_shards").U64(map.num_shards);
  if (map.replicated >= 0) w.Key("replicated").U64(map.replicated);
  w.Key("tables").BeginArray();
  for (const TablePartition& table : map.tables) {
    w.String(NameOf(table.kind, kPartitions));
  }
  w.EndArray();
  // By block: variable, first element, end, shard.
  w.Key("blocks").BeginArray();
  for (const DenseBlock& block : map.blocks) {
    w.BeginArray();
    w.U64(block.variable).U64(block.begin).U64(block.end).U64(block.shard);
    w.EndArray();
  }
  w.EndArray();
  w.EndObject();
}

ShardMap ReadPartition(const ModelSpec& model, const JsonNode& node) {
  ShardMap map;
  map.version = node.Field("map_version").U32();
  map.num_shards = node.Field("num_shards").Int(kManifestShardsMax);
  if (map.num_shards < 1) node.Fail("has no shards");
  if (node.Has("replicated")) {
    map.replicated = node.Field("replicated").Int(kManifestShardsMax);
  }
  const JsonNode tables = node.Field("tables");
  const size_t table_count = tables.Size(kVariablesMax);
  if (table_count != model.tables.size()) {
    tables.Fail("must have one entry for each table of the model");
  }
  for (size_t i = 0; i < table_count && node.ok(); ++i) {
    const auto kind = ReadName<PartitionKind>(tables.At(i), kPartitions);
    map.tables.push_back(
        {kind, model.tables[i].feature_size, map.ShardsOf(kind)});
  }
  std::vector<int64_t> flat_begin;
  int64_t flat = 0;
  for (const DenseSpec& dense : model.dense) {
    flat_begin.push_back(flat);
    if (node.ok()) flat += dense.size();
  }
  const JsonNode blocks = node.Field("blocks");
  const size_t block_count = blocks.Size(kBlocksMax);
  for (size_t i = 0; i < block_count && node.ok(); ++i) {
    const JsonNode item = blocks.At(i);
    if (item.Size(4) != 4) {
      item.Fail("must have four numbers");
      break;
    }
    DenseBlock block;
    block.variable = item.At(0).Int(kVariablesMax);
    block.begin = item.At(1).I64();
    block.end = item.At(2).I64();
    block.shard = item.At(3).Int(kManifestShardsMax);
    if (block.variable < static_cast<int>(flat_begin.size())) {
      block.flat_begin = flat_begin[block.variable] + block.begin;
    }
    map.blocks.push_back(block);
  }
  if (node.ok()) {
    const absl::Status fits = CheckPartition(model, map);
    if (!fits.ok()) node.Fail(fits.message());
  }
  return map;
}

absl::Status CheckPartition(const ModelSpec& model, const ShardMap& map) {
  if (map.num_shards < 1 || map.tables.size() != model.tables.size()) {
    return absl::InvalidArgumentError(
        "the shard map has no shards, or does not have the model's tables");
  }
  if (map.replicated != -1 && map.replicated != map.num_shards - 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("shard ", map.replicated, " of ", map.num_shards,
                     " cannot be replicated: only the last shard can"));
  }
  for (size_t i = 0; i < map.tables.size(); ++i) {
    const TableSpec& table = model.tables[i];
    const PartitionKind kind = map.tables[i].kind;
    const bool fits = table.on_every_shard ? kind == PartitionKind::kEveryShard
                      : table.dynamic()    ? kind == PartitionKind::kHash
                                        : kind == PartitionKind::kFixedSize ||
                                              kind == PartitionKind::kMod;
    if (fits && map.tables[i].feature_size == table.feature_size &&
        map.tables[i].num_shards == map.ShardsOf(kind)) {
      continue;
    }
    return absl::InvalidArgumentError(absl::StrCat(
        "table '", table.name, "' cannot be placed as the map says"));
  }
  return CheckBlocks(model, map);
}

}  // namespace shoal
