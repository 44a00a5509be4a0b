#ifndef SHOAL_WORKER_DATA_LINE_SOURCE_H_
#define SHOAL_WORKER_DATA_LINE_SOURCE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/file_system.h"
#include "worker/data/byte_source.h"
#include "worker/data/record_source.h"

namespace shoal {

// The lines of a file whose first byte lies in [begin, end), so that pieces
// that cover a file have each line once. If `begin` is within a line, that line
// belongs to the piece before. The last line is read to its end, beyond `end`.
// A line ends with '\n', which is not part of it, or with the file. A line
// longer than max_line_bytes counts as damaged, and is skipped without being
// held in memory.
//
// It holds at most max_line_bytes and a chunk of the file. Thread-compatible.
class LineSource final : public RecordSource {
 public:
  // If `end` is kToTheEnd, the source reads to the end of the bytes.
  // `cancelled` may be nullptr, and must outlive the source.
  // REQUIRES: begin <= end.
  LineSource(std::unique_ptr<ByteSource> bytes, uint64_t begin, uint64_t end,
             uint64_t max_line_bytes,
             const std::atomic<bool>* cancelled = nullptr);
  // Reads a file that is not compressed. `file` must outlive the source.
  LineSource(const RandomAccessFile* file, uint64_t begin, uint64_t end,
             uint64_t max_line_bytes,
             const std::atomic<bool>* cancelled = nullptr);

  // DATA_LOSS if the file ends before `end`.
  absl::StatusOr<bool> Next(Record* line) override;

  // The start of a line, except before the first Next of a source that begins
  // within a line.
  uint64_t position() const override { return base_ + next_; }

  void Seek(uint64_t position) override;

 private:
  // Skips to the next line start, as far as a line there may belong to this
  // piece.
  absl::Status SkipLine();
  // Reads more bytes after those held from next_ on.
  absl::Status Fill();

  const std::unique_ptr<ByteSource> bytes_;
  const uint64_t begin_;
  const uint64_t end_;
  const uint64_t max_line_bytes_;
  const std::atomic<bool>* const cancelled_;

  std::vector<char> buffer_;
  uint64_t base_ = 0;  // offset in the data of buffer_[0]
  size_t next_ = 0;    // start of the next line in the buffer
  size_t filled_ = 0;  // bytes of the buffer that hold data
  bool eof_ = false;   // the held bytes reach the end of the data
  bool mid_line_;      // next_ is not yet at a line's start
  uint64_t lines_ = 0;
};

}  // namespace shoal

#endif  // SHOAL_WORKER_DATA_LINE_SOURCE_H_
