#ifndef SHOAL_WORKER_DATA_BYTE_SOURCE_H_
#define SHOAL_WORKER_DATA_BYTE_SOURCE_H_

#include <cstddef>
#include <cstdint>
#include <limits>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "base/file_system.h"

namespace shoal {

// The end of data whose length is not known before it is read.
inline constexpr uint64_t kToTheEnd = std::numeric_limits<uint64_t>::max();

// SEAM: the bytes of a file, after decompression if it is compressed.
// Implementations: FileBytes, DecompressedBytes (decompressed_bytes.h).
// Thread-compatible.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Reads up to out.size() bytes from `position` on, and fewer only at the end.
  // Reading on from the end of the last read is cheap; elsewhere compressed
  // data is decompressed again from its beginning. Errors: those of the file;
  // DATA_LOSS for compressed data that is damaged or truncated.
  virtual absl::StatusOr<size_t> Read(uint64_t position,
                                      absl::Span<char> out) = 0;
};

// The bytes of a file that is not compressed.
class FileBytes final : public ByteSource {
 public:
  // `file` must outlive the source.
  explicit FileBytes(const RandomAccessFile* file) : file_(file) {}
  absl::StatusOr<size_t> Read(uint64_t position,
                              absl::Span<char> out) override {
    return file_->Read(position, out);
  }

 private:
  const RandomAccessFile* const file_;
};

}  // namespace shoal

#endif  // SHOAL_WORKER_DATA_BYTE_SOURCE_H_
