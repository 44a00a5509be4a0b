#ifndef SHOAL_WORKER_DATA_LINE_SOURCE_H_
#define SHOAL_WORKER_DATA_LINE_SOURCE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/file_system.h"

namespace shoal {

// The lines of a file whose first byte lies in [begin, end), so that pieces
// which cover a file have each of its lines once. Begins mid-line: up to the
// next line is the piece before's. The last line is read beyond `end`. Lines
// end by '\n' (not part of them) or with the file.
//
// Holds at most max_line_bytes and a chunk of the file. Thread-compatible.
class LineSource {
 public:
  struct Line {
    absl::string_view text;  // valid until the next call
    uint64_t offset = 0;     // of its first byte in the file
    uint64_t number = 0;     // from 1, among the lines since begin
    bool too_long = false;   // longer than max_line_bytes: text is empty
  };

  // `file` must outlive the source; `cancelled`, which may be nullptr, too.
  // REQUIRES: begin <= end.
  LineSource(const RandomAccessFile* file, uint64_t begin, uint64_t end,
             uint64_t max_line_bytes,
             const std::atomic<bool>* cancelled = nullptr);

  // True with the next line, false at the end. Errors: those of the file;
  // DATA_LOSS if the file ends before `end`; CANCELLED soon after *cancelled.
  absl::StatusOr<bool> Next(Line* line);

  // Where the next call goes on: at a line's start, but before the first call
  // of a source that begins mid-line.
  uint64_t position() const { return base_ + next_; }

  // Goes back or forth to a position() that was seen. Numbers of lines go on
  // from where they were.
  void Seek(uint64_t position);

 private:
  // Drops what comes before the next line start, as far as one may be ours.
  absl::Status SkipLine();
  // Reads more behind what is held from next_ on.
  absl::Status Fill();

  const RandomAccessFile* const file_;
  const uint64_t begin_;
  const uint64_t end_;
  const uint64_t max_line_bytes_;
  const std::atomic<bool>* const cancelled_;

  std::vector<char> buffer_;
  uint64_t base_ = 0;  // offset in the file of buffer_[0]
  size_t next_ = 0;    // where the next line starts in the buffer
  size_t filled_ = 0;  // bytes of the buffer that hold the file's
  bool eof_ = false;   // what is held reaches the file's end
  bool mid_line_;      // next_ is not yet at a line's start
  uint64_t lines_ = 0;
};

}  // namespace shoal

#endif  // SHOAL_WORKER_DATA_LINE_SOURCE_H_
