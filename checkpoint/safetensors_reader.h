#ifndef SHOAL_CHECKPOINT_SAFETENSORS_READER_H_
#define SHOAL_CHECKPOINT_SAFETENSORS_READER_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "base/aligned_buffer.h"
#include "base/check.h"
#include "base/file_system.h"
#include "checkpoint/safetensors_writer.h"

namespace shoal {

// An open safetensors file, which may hold any bytes. Errors are DATA_LOSS,
// which names the file and what is wrong, or those of the file system.
// Thread-safe.
class SafetensorsReader {
 public:
  static absl::StatusOr<std::unique_ptr<SafetensorsReader>> Open(
      const FileSystem& files, const std::string& path);
  // The same for a file with an entry in a manifest: size, header and tensors
  // must equal those of `expected`.
  static absl::StatusOr<std::unique_ptr<SafetensorsReader>> Open(
      const FileSystem& files, const std::string& path,
      const WrittenFile& expected);

  const std::string& path() const { return path_; }
  const SafetensorsHeader& header() const { return header_; }
  // CRC-32C of all bytes before the data.
  uint32_t header_crc32c() const { return header_crc32c_; }

  // Fills `out` from the tensor's byte `offset` on. Checks that the bytes are
  // there, but no checksums. REQUIRES: offset + out.size() <= tensor.bytes().
  absl::Status Read(const TensorInfo& tensor, uint64_t offset,
                    absl::Span<char> out) const;

 private:
  SafetensorsReader(std::string path, std::unique_ptr<RandomAccessFile> file)
      : path_(std::move(path)), file_(std::move(file)) {}
  absl::Status ReadExactly(uint64_t offset, absl::Span<char> out) const;

  const std::string path_;
  const std::unique_ptr<RandomAccessFile> file_;
  SafetensorsHeader header_;
  uint32_t header_crc32c_ = 0;
};

// Reads any ranges of one tensor and checks each block against its CRC when the
// block is loaded. Damage is DATA_LOSS, which names the file, the tensor, the
// block and its offset in the file. Holds one block: ascending ranges read each
// block once. Thread-compatible.
class CheckedTensor {
 public:
  // Both arguments outlive this object. REQUIRES: `tensor` belongs to the
  // manifest entry with which the reader was opened.
  CheckedTensor(const SafetensorsReader* reader, const WrittenTensor* tensor)
      : reader_(reader), tensor_(tensor) {}

  const TensorInfo& info() const { return tensor_->info; }
  // REQUIRES: offset + out.size() <= info().bytes().
  absl::Status Read(uint64_t offset, absl::Span<char> out);
  // The same, counted in elements of T. REQUIRES: the dtype has the size of T.
  template <typename T>
  absl::Status ReadElements(uint64_t first, absl::Span<T> out) {
    SHOAL_DCHECK(DTypeBytes(info().dtype) == sizeof(T));
    return Read(first * sizeof(T),
                absl::MakeSpan(reinterpret_cast<char*>(out.data()),
                               out.size() * sizeof(T)));
  }

 private:
  absl::Status LoadBlock(uint64_t block);

  const SafetensorsReader* reader_;
  const WrittenTensor* tensor_;
  AlignedBuffer<char> buffer_;
  uint64_t loaded_ = ~uint64_t{0};  // the block in the buffer
};

}  // namespace shoal

#endif  // SHOAL_CHECKPOINT_SAFETENSORS_READER_H_
