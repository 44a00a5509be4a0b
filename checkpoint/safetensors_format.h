#ifndef SHOAL_CHECKPOINT_SAFETENSORS_FORMAT_H_
#define SHOAL_CHECKPOINT_SAFETENSORS_FORMAT_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace shoal {

// The safetensors file format (docs/checkpoint_format.md):
//
//   u64 little-endian N | N bytes of JSON, ended by spaces | data
//
// The JSON is one object. It has an entry {"dtype", "shape", "data_offsets":
// [begin, end)} by tensor name, with offsets into the data, and "__metadata__",
// an object of strings by name. The tensors tile the data without holes.

// Limits for reading and writing. A file beyond a limit is refused, so that a
// number in a file cannot make the reader allocate much memory.
inline constexpr uint64_t kSafetensorsHeaderMax = uint64_t{4} << 20;  // bytes
inline constexpr size_t kSafetensorsTensorsMax = 16384;
inline constexpr size_t kTensorNameMax = 512;  // bytes
inline constexpr size_t kTensorRankMax = 8;

enum class DType : uint8_t {
  kBool,
  kU8,
  kI8,
  kF8E4M3,
  kF8E5M2,
  kU16,
  kI16,
  kF16,
  kBF16,
  kU32,
  kI32,
  kF32,
  kU64,
  kI64,
  kF64
};

// The name of a dtype in the JSON, such as "F32"; and back, with
// INVALID_ARGUMENT for any other text.
absl::string_view DTypeName(DType dtype);
absl::StatusOr<DType> ParseDType(absl::string_view name);
uint64_t DTypeBytes(DType dtype);

struct TensorInfo {
  std::string name;
  DType dtype = DType::kF32;
  std::vector<uint64_t> shape;  // row-major; empty is a scalar
  uint64_t begin = 0;           // bytes [begin, end) of the data
  uint64_t end = 0;

  uint64_t bytes() const { return end - begin; }
  friend bool operator==(const TensorInfo&, const TensorInfo&) = default;
};

// The size of a tensor in bytes: shape × dtype. INVALID_ARGUMENT: too many
// axes, or a size beyond 2^62.
absl::StatusOr<uint64_t> TensorBytes(const TensorInfo& tensor);

struct SafetensorsHeader {
  std::map<std::string, std::string> metadata;
  std::vector<TensorInfo> tensors;  // ascending by begin
  uint64_t data_begin = 0;          // offset in the file: 8 + N
  uint64_t data_bytes = 0;

  // nullptr: there is no such tensor.
  const TensorInfo* Find(absl::string_view name) const;
};

// Builds the bytes before the data for tensors that follow each other in this
// order, and sets begin and end of the tensors. The length of the bytes is a
// multiple of 8. INVALID_ARGUMENT: a repeated, empty or unprintable name, or a
// limit is exceeded.
absl::StatusOr<std::string> BuildSafetensorsHeader(
    const std::map<std::string, std::string>& metadata,
    std::vector<TensorInfo>* tensors);

// Reads the JSON of a file of `file_size` bytes; any bytes are safe to give.
// Every number is checked: DATA_LOSS says what is wrong, and with which tensor,
// unless the format and the limits above hold. REQUIRES: json.size() <=
// kSafetensorsHeaderMax.
absl::StatusOr<SafetensorsHeader> ParseSafetensorsHeader(absl::string_view json,
                                                         uint64_t file_size);

}  // namespace shoal

#endif  // SHOAL_CHECKPOINT_SAFETENSORS_FORMAT_H_
