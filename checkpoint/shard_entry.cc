#include "checkpoint/shard_entry.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/path.h"
#include "base/status_macros.h"
#include "checkpoint/model_json.h"
#include "checkpoint/shard_entry_json.h"

namespace shoal {
namespace {

constexpr size_t kEntryNameMax = 1024;
constexpr size_t kTensorBlocksMax = size_t{1} << 24;  // 16 TiB
constexpr size_t kEntryBytesMax = size_t{48} << 20;

WrittenTensor ReadWrittenTensor(const JsonNode& node) {
  WrittenTensor tensor;
  tensor.info.name = node.Field("name").Bytes(kTensorNameMax);
  const auto dtype = ParseDType(node.Field("dtype").String(16));
  if (dtype.ok()) {
    tensor.info.dtype = *dtype;
  } else {
    node.Fail("has a dtype that this Shoal does not know");
  }
  const JsonNode shape = node.Field("shape");
  const size_t rank = shape.Size(kTensorRankMax);
  for (size_t i = 0; i < rank; ++i) {
    tensor.info.shape.push_back(shape.At(i).U64());
  }
  tensor.info.begin = node.Field("begin").U64();
  tensor.info.end = node.Field("end").U64();
  tensor.checksums.crc32c = node.Field("crc32c").Hex32();
  tensor.checksums.blocks = node.Field("blocks").Hex32s(kTensorBlocksMax);
  const auto bytes = TensorBytes(tensor.info);
  if (!bytes.ok()) {
    node.Fail(bytes.status().message());
  } else if (tensor.info.end < tensor.info.begin ||
             tensor.info.bytes() != *bytes ||
             tensor.checksums.blocks.size() != ChecksumBlocks(*bytes)) {
    node.Fail("has a shape, offsets and blocks that do not fit together");
  }
  return tensor;
}

}  // namespace

uint64_t ShardEntry::bytes() const {
  uint64_t sum = 0;
  for (const SavedVariable& variable : variables) sum += variable.bytes;
  return sum;
}

void WriteShardEntry(const ShardEntry& entry, JsonWriter* writer) {
  JsonWriter& w = *writer;
  w.BeginObject();
  w.Key("shard").U64(entry.shard);
  w.Key("attempt").U64(entry.attempt);
  w.Key("file").String(entry.file.file);
  w.Key("size").U64(entry.file.size);
  w.Key("data_begin").U64(entry.file.data_begin);
  w.Key("header_crc32c").Hex32(entry.file.header_crc32c);
  w.Key("rows").U64(entry.rows);
  w.Key("lookups").U64(entry.lookups);
  w.Key("marks").U64(entry.marks);
  w.Key("marks_digest").Hex64(entry.marks_digest);
  w.Key("variables").BeginArray();
  for (const SavedVariable& variable : entry.variables) {
    w.BeginObject();
    w.Key("name").String(variable.name);
    w.Key("rows").U64(variable.rows);
    w.Key("bytes").U64(variable.bytes);
    w.Key("lookups").U64(variable.lookups);
    w.EndObject();
  }
  w.EndArray();
  w.Key("tensors").BeginArray();
  for (const WrittenTensor& tensor : entry.file.tensors) {
    w.BeginObject();
    w.Key("name").String(tensor.info.name);
    w.Key("dtype").String(DTypeName(tensor.info.dtype));
    w.Key("shape").BeginArray();
    for (const uint64_t length : tensor.info.shape) w.U64(length);
    w.EndArray();
    w.Key("begin").U64(tensor.info.begin);
    w.Key("end").U64(tensor.info.end);
    w.Key("crc32c").Hex32(tensor.checksums.crc32c);
    w.Key("blocks").Hex32s(tensor.checksums.blocks);
    w.EndObject();
  }
  w.EndArray();
  w.EndObject();
}

ShardEntry ReadShardEntry(const JsonNode& node) {
  ShardEntry entry;
  entry.shard = node.Field("shard").Int(kManifestShardsMax);
  entry.attempt = node.Field("attempt").U64();
  entry.file.file = node.Field("file").Bytes(kEntryNameMax);
  if (node.ok() && (entry.file.file.empty() || IsHiddenName(entry.file.file) ||
                    absl::StrContains(entry.file.file, '/'))) {
    node.Fail("has a file that is not a plain file name");
  }
  entry.file.size = node.Field("size").U64();
  entry.file.data_begin = node.Field("data_begin").U64();
  entry.file.header_crc32c = node.Field("header_crc32c").Hex32();
  entry.rows = node.Field("rows").U64();
  entry.lookups = node.Field("lookups").U64();
  entry.marks = node.Field("marks").U64();
  entry.marks_digest = node.Field("marks_digest").Hex64();
  const JsonNode variables = node.Field("variables");
  const size_t count = variables.Size(kSafetensorsTensorsMax);
  for (size_t i = 0; i < count; ++i) {
    const JsonNode item = variables.At(i);
    SavedVariable variable;
    variable.name = item.Field("name").Bytes(kEntryNameMax);
    variable.rows = item.Field("rows").U64();
    variable.bytes = item.Field("bytes").U64();
    variable.lookups = item.Field("lookups").U64();
    entry.variables.push_back(std::move(variable));
  }
  const JsonNode tensors = node.Field("tensors");
  const size_t tensor_count = tensors.Size(kSafetensorsTensorsMax);
  uint64_t next = 0;
  for (size_t i = 0; i < tensor_count && node.ok(); ++i) {
    const JsonNode item = tensors.At(i);
    WrittenTensor tensor = ReadWrittenTensor(item);
    if (tensor.info.begin != next) {
      item.Fail("does not begin where the tensor before it ends");
    }
    next = tensor.info.end;
    entry.file.tensors.push_back(std::move(tensor));
  }
  if (entry.file.data_begin > entry.file.size ||
      entry.file.size - entry.file.data_begin != next) {
    node.Fail("has a size that is not the sum of its header and tensors");
  }
  return entry;
}

std::string ShardEntryToText(const ShardEntry& entry) {
  std::string text;
  JsonWriter writer(&text);
  WriteShardEntry(entry, &writer);
  return text;
}

absl::StatusOr<ShardEntry> ShardEntryFromText(absl::string_view text) {
  if (text.size() > kEntryBytesMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("a shard's entry of ", text.size(), " bytes; at most ",
                     kEntryBytesMax, " are read"));
  }
  SHOAL_ASSIGN_OR_RETURN(const auto document, JsonDocument::Parse(text));
  ShardEntry entry = ReadShardEntry(document->root());
  SHOAL_RETURN_IF_ERROR(document->status());
  return entry;
}

}  // namespace shoal
