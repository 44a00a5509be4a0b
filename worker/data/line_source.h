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
// which cover a file have each of its lines once. Begins mid-line: up to the
// next line is the piece before's. The last line is read beyond `end`. Lines
// end by '\n' (not part of them) or with the file. One that is longer than
// max_line_bytes is damaged, and is skipped without being held.
//
// Holds at most max_line_bytes and a chunk of the file. Thread-compatible.
class LineSource final : public RecordSource {
 public:
  // An `end` of kToTheEnd is the end of the bytes, wherever that is.
  // `cancelled`, which may be nullptr, must outlive the source.
  // REQUIRES: begin <= end.
  LineSource(std::unique_ptr<ByteSource> bytes, uint64_t begin, uint64_t end,
             uint64_t max_line_bytes,
             const std::atomic<bool>* cancelled = nullptr);
  // Of a plain file, which must outlive the source.
  LineSource(const RandomAccessFile* file, uint64_t begin, uint64_t end,
             uint64_t max_line_bytes,
             const std::atomic<bool>* cancelled = nullptr);

  // DATA_LOSS if the file ends before `end`.
  absl::StatusOr<bool> Next(Record* line) override;

  // At a line's start, but before the first call of a source that begins
  // mid-line.
  uint64_t position() const override { return base_ + next_; }

  void Seek(uint64_t position) override;

 private:
  // Drops what comes before the next line start, as far as one may be ours.
  absl::Status SkipLine();
  // Reads more behind what is held from next_ on.
  absl::Status Fill();

  const std::unique_ptr<ByteSource> bytes_;
  const uint64_t begin_;
  const uint64_t end_;
  const uint64_t max_line_bytes_;
  const std::atomic<bool>* const cancelled_;

  std::vector<char> buffer_;
  uint64_t base_ = 0;  // offset in the data of buffer_[0]
  size_t next_ = 0;    // where the next line starts in the buffer
  size_t filled_ = 0;  // bytes of the buffer that hold the data's
  bool eof_ = false;   // what is held reaches the data's end
  bool mid_line_;      // next_ is not yet at a line's start
  uint64_t lines_ = 0;
};

}  // namespace shoal

#endif  // SHOAL_WORKER_DATA_LINE_SOURCE_H_
