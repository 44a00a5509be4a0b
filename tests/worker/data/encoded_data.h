#ifndef SHOAL_TESTS_WORKER_DATA_ENCODED_DATA_H_
#define SHOAL_TESTS_WORKER_DATA_ENCODED_DATA_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "base/file_system.h"

namespace shoal {

// Protobuf's wire format, spelled out: a varint, and a field of bytes.
std::string WireVarint(uint64_t value);
std::string WireBytes(uint32_t field, absl::string_view bytes);

// The lists of a Feature, with all numbers in one packed field or one each.
std::string FloatFeature(const std::vector<float>& numbers, bool packed = true);
std::string IntFeature(const std::vector<int64_t>& numbers, bool packed = true);

// A tf.Example of features, each a name and what is above.
std::string TfExample(
    const std::vector<std::pair<std::string, std::string>>& features);
// One with label, ids and values as the reference pipeline writes it.
std::string TfExampleRow(float label, const std::vector<int64_t>& ids,
                         const std::vector<float>& values);

// A record of TFRecord around a payload.
std::string TfRecord(absl::string_view payload);

// One member, or frame, of compressed data.
std::string Gzip(absl::string_view bytes);
std::string Zstd(absl::string_view bytes);

// The same `rows` rows as LibSVM and as TFRecord: row i has the label i % 2 and
// 1 + i % fields features, with ids below `ids` and values that are both
// decimals and floats.
struct SameRows {
  std::string libsvm;
  std::string tfrecord;
};
SameRows MakeSameRows(int rows, int fields, uint64_t ids);

// The rows of LibSVM text as LibFFM: the j-th feature of a row is field j.
std::string ToLibFfm(absl::string_view libsvm);

// A file in memory.
class MemoryFile final : public RandomAccessFile {
 public:
  explicit MemoryFile(std::string bytes) : bytes_(std::move(bytes)) {}
  absl::StatusOr<size_t> Read(uint64_t offset,
                              absl::Span<char> out) const override {
    if (offset >= bytes_.size()) return 0;
    return bytes_.copy(out.data(), out.size(), offset);
  }
  uint64_t size() const override { return bytes_.size(); }

 private:
  const std::string bytes_;
};

}  // namespace shoal

#endif  // SHOAL_TESTS_WORKER_DATA_ENCODED_DATA_H_
