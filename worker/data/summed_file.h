#ifndef SHOAL_WORKER_DATA_SUMMED_FILE_H_
#define SHOAL_WORKER_DATA_SUMMED_FILE_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "base/file_system.h"

namespace shoal {

// A file that computes the checksum of one piece's bytes as they are read for
// the first time. Reads may overlap or go back: each byte counts once.
// Thread-compatible, unlike other files.
class SummedFile final : public RandomAccessFile {
 public:
  // The piece is bytes [begin, end). REQUIRES: begin <= end.
  SummedFile(std::unique_ptr<RandomAccessFile> file, uint64_t begin,
             uint64_t end);

  absl::StatusOr<size_t> Read(uint64_t offset,
                              absl::Span<char> out) const override;
  uint64_t size() const override { return file_->size(); }

  // CRC-32C of the piece's bytes. Reads the bytes that have not been read yet.
  // Errors: those of the file; DATA_LOSS if the file ends before the piece.
  absl::StatusOr<uint32_t> Crc32c() const;

 private:
  void Sum(uint64_t offset, absl::string_view bytes) const;

  const std::unique_ptr<RandomAccessFile> file_;
  const uint64_t end_;
  mutable uint64_t summed_to_;
  mutable uint32_t crc_ = 0;  // CRC-32C of [begin, summed_to_)
};

}  // namespace shoal

#endif  // SHOAL_WORKER_DATA_SUMMED_FILE_H_
