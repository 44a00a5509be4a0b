#include "worker/data/line_source.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status_macros.h"

namespace shoal {
namespace {

// Large enough that the bytes dominate the cost of a read, small enough for a
// cache.
constexpr uint64_t kChunkBytes = 256 << 10;
// Beyond `end` only the rest of one line is needed.
constexpr uint64_t kTailBytes = 4 << 10;

}  // namespace

LineSource::LineSource(const RandomAccessFile* file, uint64_t begin,
                       uint64_t end, uint64_t max_line_bytes,
                       const std::atomic<bool>* cancelled)
    : LineSource(std::make_unique<FileBytes>(file), begin, end, max_line_bytes,
                 cancelled) {}

LineSource::LineSource(std::unique_ptr<ByteSource> bytes, uint64_t begin,
                       uint64_t end, uint64_t max_line_bytes,
                       const std::atomic<bool>* cancelled)
    : bytes_(std::move(bytes)),
      begin_(begin),
      end_(end),
      max_line_bytes_(max_line_bytes),
      cancelled_(cancelled),
      // A line starts at `begin` if the byte before it ends one.
      base_(begin == 0 ? 0 : begin - 1),
      mid_line_(begin != 0) {
  SHOAL_DCHECK(begin <= end);
}

void LineSource::Seek(uint64_t position) {
  base_ = position;
  next_ = 0;
  filled_ = 0;
  eof_ = false;
  mid_line_ = position < begin_;
}

absl::StatusOr<bool> LineSource::Next(Record* line) {
  if (mid_line_) {
    SHOAL_RETURN_IF_ERROR(SkipLine());
    mid_line_ = false;
  }
  if (base_ + next_ >= end_) return false;
  if (next_ == filled_) {
    if (!eof_) SHOAL_RETURN_IF_ERROR(Fill());
    if (next_ == filled_) return false;
  }
  line->offset = base_ + next_;
  line->number = ++lines_;
  line->damage.clear();
  size_t scanned = 0;
  for (;;) {
    const char* const begin = buffer_.data() + next_;
    const size_t held = filled_ - next_;
    const void* const newline =
        held == scanned ? nullptr
                        : std::memchr(begin + scanned, '\n', held - scanned);
    size_t length = held;
    if (newline != nullptr) {
      length = static_cast<const char*>(newline) - begin;
    }
    if (length > max_line_bytes_) {
      line->bytes = {};
      line->damage =
          absl::StrCat("line longer than ", max_line_bytes_, " bytes");
      SHOAL_RETURN_IF_ERROR(SkipLine());
      return true;
    }
    if (newline != nullptr || eof_) {
      line->bytes = absl::string_view(begin, length);
      next_ += length + (newline != nullptr ? 1 : 0);
      return true;
    }
    scanned = held;
    SHOAL_RETURN_IF_ERROR(Fill());
  }
}

absl::Status LineSource::SkipLine() {
  for (;;) {
    const void* const newline =
        filled_ == next_
            ? nullptr
            : std::memchr(buffer_.data() + next_, '\n', filled_ - next_);
    if (newline != nullptr) {
      next_ = static_cast<const char*>(newline) - buffer_.data() + 1;
      return absl::OkStatus();
    }
    next_ = filled_;
    if (eof_ || base_ + next_ >= end_) return absl::OkStatus();
    SHOAL_RETURN_IF_ERROR(Fill());
  }
}

absl::Status LineSource::Fill() {
  if (cancelled_ != nullptr && cancelled_->load(std::memory_order_relaxed)) {
    return absl::CancelledError("reading was cancelled");
  }
  if (next_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + next_, filled_ - next_);
    base_ += next_;
    filled_ -= next_;
    next_ = 0;
  }
  const uint64_t at = base_ + filled_;
  const size_t want = at < end_ ? std::min(kChunkBytes, end_ - at) : kTailBytes;
  if (buffer_.size() < filled_ + want) buffer_.resize(filled_ + want);
  SHOAL_ASSIGN_OR_RETURN(
      const size_t got,
      bytes_->Read(at, absl::MakeSpan(buffer_).subspan(filled_, want)));
  filled_ += got;
  if (got < want) {
    eof_ = true;
    if (end_ != kToTheEnd && at + got < end_) {
      return absl::DataLossError(
          absl::StrCat("the file ends at byte ", at + got,
                       ", before the end of its piece at ", end_,
                       ": the file changed"));
    }
  }
  return absl::OkStatus();
}

}  // namespace shoal
