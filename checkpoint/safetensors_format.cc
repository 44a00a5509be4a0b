#include "checkpoint/safetensors_format.h"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "base/status_macros.h"

namespace shoal {
namespace {

constexpr uint64_t kTensorBytesMax = uint64_t{1} << 62;
constexpr size_t kMetadataMax = 1024;       // entries
constexpr size_t kMetadataTextMax = 65536;  // bytes of one

struct DTypeFacts {
  DType dtype;
  absl::string_view name;
  uint64_t bytes;
};
constexpr DTypeFacts kDTypes[] = {
    {DType::kBool, "BOOL", 1},      {DType::kU8, "U8", 1},
    {DType::kI8, "I8", 1},          {DType::kF8E4M3, "F8_E4M3", 1},
    {DType::kF8E5M2, "F8_E5M2", 1}, {DType::kU16, "U16", 2},
    {DType::kI16, "I16", 2},        {DType::kF16, "F16", 2},
    {DType::kBF16, "BF16", 2},      {DType::kU32, "U32", 4},
    {DType::kI32, "I32", 4},        {DType::kF32, "F32", 4},
    {DType::kU64, "U64", 8},        {DType::kI64, "I64", 8},
    {DType::kF64, "F64", 8},
};

const DTypeFacts& FactsOf(DType dtype) {
  return kDTypes[static_cast<size_t>(dtype)];
}

bool Printable(absl::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return c >= ' ' && c <= '~'; });
}

absl::Status CheckName(absl::string_view name) {
  if (!name.empty() && name.size() <= kTensorNameMax && Printable(name) &&
      name != "__metadata__") {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("a tensor's name must have 1 to ", kTensorNameMax,
                   " printable characters: '", name.substr(0, 80), "'"));
}

TensorInfo ReadTensor(const std::string& name, const JsonNode& node) {
  TensorInfo tensor;
  tensor.name = name;
  const JsonNode dtype_node = node.Field("dtype");
  const auto dtype = ParseDType(dtype_node.String(16));
  if (dtype.ok()) {
    tensor.dtype = *dtype;
  } else {
    dtype_node.Fail(dtype.status().message());
  }
  const JsonNode shape = node.Field("shape");
  const size_t rank = shape.Size(kTensorRankMax);
  for (size_t i = 0; i < rank; ++i) {
    tensor.shape.push_back(shape.At(i).U64(kTensorBytesMax));
  }
  const JsonNode offsets = node.Field("data_offsets");
  if (offsets.Size(2) != 2) {
    offsets.Fail("must be a pair of numbers");
    return tensor;
  }
  tensor.begin = offsets.At(0).U64(kTensorBytesMax);
  tensor.end = offsets.At(1).U64(kTensorBytesMax);
  return tensor;
}

// The tensors tile [0, data_bytes) in their order.
absl::Status CheckTiles(const SafetensorsHeader& header) {
  uint64_t next = 0;
  for (const TensorInfo& tensor : header.tensors) {
    const std::string who = absl::StrCat("tensor '", tensor.name, "' ");
    if (tensor.begin != next || tensor.end < tensor.begin) {
      return absl::DataLossError(absl::StrCat(
          who, "has data_offsets [", tensor.begin, ", ", tensor.end,
          "], and the tensors before it end at ", next));
    }
    SHOAL_ASSIGN_OR_RETURN(const uint64_t bytes, TensorBytes(tensor));
    if (bytes != tensor.bytes()) {
      return absl::DataLossError(
          absl::StrCat(who, "has ", tensor.bytes(),
                       " bytes, but its shape and dtype make ", bytes));
    }
    next = tensor.end;
  }
  if (next != header.data_bytes) {
    return absl::DataLossError(absl::StrCat(
        "the tensors have ", next, " bytes, but the file has ",
        header.data_bytes,
        " after its header: the file was cut off, or bytes were added"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::string_view DTypeName(DType dtype) { return FactsOf(dtype).name; }
uint64_t DTypeBytes(DType dtype) { return FactsOf(dtype).bytes; }

absl::StatusOr<DType> ParseDType(absl::string_view name) {
  for (const DTypeFacts& facts : kDTypes) {
    if (facts.name == name) return facts.dtype;
  }
  return absl::InvalidArgumentError("is not a dtype that this Shoal knows");
}

absl::StatusOr<uint64_t> TensorBytes(const TensorInfo& tensor) {
  if (tensor.shape.size() > kTensorRankMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("tensor '", tensor.name, "' has ", tensor.shape.size(),
                     " axes; at most ", kTensorRankMax, " are possible"));
  }
  uint64_t bytes = DTypeBytes(tensor.dtype);
  for (const uint64_t length : tensor.shape) {
    if (length != 0 && bytes > kTensorBytesMax / length) {
      return absl::InvalidArgumentError(absl::StrCat(
          "tensor '", tensor.name, "' has a shape of more than 2^62 bytes"));
    }
    bytes *= length;
  }
  return bytes;
}

const TensorInfo* SafetensorsHeader::Find(absl::string_view name) const {
  for (const TensorInfo& tensor : tensors) {
    if (tensor.name == name) return &tensor;
  }
  return nullptr;
}

absl::StatusOr<std::string> BuildSafetensorsHeader(
    const std::map<std::string, std::string>& metadata,
    std::vector<TensorInfo>* tensors) {
  if (tensors->size() > kSafetensorsTensorsMax) {
    return absl::InvalidArgumentError(
        absl::StrCat(tensors->size(), " tensors; at most ",
                     kSafetensorsTensorsMax, " fit into a file"));
  }
  std::string json;
  JsonWriter writer(&json);
  writer.BeginObject();
  if (!metadata.empty()) {
    writer.Key("__metadata__").BeginObject();
    for (const auto& [name, text] : metadata) {
      if (!Printable(name) || !Printable(text)) {
        return absl::InvalidArgumentError(
            absl::StrCat("metadata '", name, "' is not printable ASCII"));
      }
      writer.Key(name).String(text);
    }
    writer.EndObject();
  }
  uint64_t next = 0;
  std::set<absl::string_view> names;
  for (TensorInfo& tensor : *tensors) {
    SHOAL_RETURN_IF_ERROR(CheckName(tensor.name));
    if (!names.insert(tensor.name).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("two tensors are named '", tensor.name, "'"));
    }
    SHOAL_ASSIGN_OR_RETURN(const uint64_t bytes, TensorBytes(tensor));
    tensor.begin = next;
    tensor.end = next += bytes;
    if (next > kTensorBytesMax) {
      return absl::InvalidArgumentError("the tensors exceed 2^62 bytes");
    }
    writer.Key(tensor.name).BeginObject();
    writer.Key("dtype").String(DTypeName(tensor.dtype));
    writer.Key("shape").BeginArray();
    for (const uint64_t length : tensor.shape) writer.U64(length);
    writer.EndArray();
    writer.Key("data_offsets").BeginArray();
    writer.U64(tensor.begin).U64(tensor.end).EndArray();
    writer.EndObject();
  }
  writer.EndObject();
  json.append((8 - json.size() % 8) % 8, ' ');
  if (json.size() > kSafetensorsHeaderMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("the header has ", json.size(), " bytes; at most ",
                     kSafetensorsHeaderMax, " are read"));
  }
  std::string bytes;
  for (int i = 0; i < 8; ++i) {
    bytes.push_back(static_cast<char>(json.size() >> (8 * i)));
  }
  return bytes + json;
}

absl::StatusOr<SafetensorsHeader> ParseSafetensorsHeader(absl::string_view json,
                                                         uint64_t file_size) {
  SHOAL_DCHECK(json.size() <= kSafetensorsHeaderMax);
  SafetensorsHeader header;
  header.data_begin = 8 + json.size();
  if (file_size < header.data_begin) {
    return absl::DataLossError("the file ends within its header");
  }
  header.data_bytes = file_size - header.data_begin;
  auto document = JsonDocument::Parse(json, /*max_depth=*/4);
  if (!document.ok()) {
    return absl::DataLossError(absl::StrCat(
        "its header (", json.size(), " bytes from byte 8 of the file on) is ",
        document.status().message(),
        ": the file is damaged, or not a safetensors file; take another copy "
        "of it, or an older checkpoint (`shoal ckpt verify` says which are "
        "whole)"));
  }
  (*document)->root().ForEachField(
      kSafetensorsTensorsMax + 1,
      [&header](const std::string& name, const JsonNode& node) {
        if (name == "__metadata__") {
          node.ForEachField(kMetadataMax, [&header](const std::string& key,
                                                    const JsonNode& text) {
            header.metadata[key] = text.String(kMetadataTextMax);
          });
          return;
        }
        if (name.size() > kTensorNameMax) {
          node.Fail("has a name that is too long");
        }
        header.tensors.push_back(ReadTensor(name, node));
      });
  if (!(*document)->status().ok()) {
    return absl::DataLossError(
        absl::StrCat("in the header, ", (*document)->status().message()));
  }
  // An empty tensor may lie anywhere a tensor begins; it is sorted before that
  // tensor.
  std::sort(header.tensors.begin(), header.tensors.end(),
            [](const TensorInfo& a, const TensorInfo& b) {
              return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
            });
  const absl::Status tiles = CheckTiles(header);
  if (!tiles.ok()) return absl::DataLossError(tiles.message());
  return header;
}

}  // namespace shoal
