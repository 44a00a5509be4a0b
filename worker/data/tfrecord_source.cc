#include "worker/data/tfrecord_source.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/crc32c.h"
#include "base/status_macros.h"

namespace shoal {
namespace {

static_assert(std::endian::native == std::endian::little,
              "numbers are read as they lie in the file");

constexpr uint64_t kChunkBytes = 256 << 10;
// Beyond `end` only the rest of one record is needed.
constexpr uint64_t kTailBytes = 4 << 10;

template <typename T>
T Load(const char* p) {
  T value;
  std::memcpy(&value, p, sizeof(value));
  return value;
}

bool HasCrc(const char* p, size_t n, const char* masked) {
  return MaskedCrc32c(Crc32c(absl::string_view(p, n))) ==
         Load<uint32_t>(masked);
}

}  // namespace

bool TfRecordFrame::IsHeader(absl::string_view bytes) {
  SHOAL_DCHECK(bytes.size() >= kHeaderBytes);
  return HasCrc(bytes.data(), 8, bytes.data() + 8);
}

bool BeginsTfRecords(absl::string_view head) {
  return head.size() >= TfRecordFrame::kHeaderBytes &&
         TfRecordFrame::IsHeader(head);
}

uint64_t TfRecordFrame::Length(absl::string_view bytes) {
  SHOAL_DCHECK(bytes.size() >= kHeaderBytes);
  return Load<uint64_t>(bytes.data());
}

TfRecordSource::TfRecordSource(std::unique_ptr<ByteSource> bytes,
                               uint64_t begin, uint64_t end,
                               uint64_t max_record_bytes,
                               const std::atomic<bool>* cancelled)
    : bytes_(std::move(bytes)),
      begin_(begin),
      end_(end),
      max_record_bytes_(max_record_bytes),
      cancelled_(cancelled),
      base_(begin),
      lost_(begin != 0) {}

void TfRecordSource::Seek(uint64_t position) {
  base_ = position;
  next_ = 0;
  filled_ = 0;
  eof_ = false;
  ended_ = false;
  lost_ = position == begin_ && begin_ != 0;
}

absl::StatusOr<bool> TfRecordSource::Next(Record* record) {
  constexpr size_t kHeader = TfRecordFrame::kHeaderBytes;
  constexpr size_t kFooter = TfRecordFrame::kFooterBytes;
  if (lost_) {
    SHOAL_ASSIGN_OR_RETURN(const uint64_t found, Scan(begin_, end_));
    Seek(found);
    lost_ = false;
    ended_ = found == end_;
  }
  if (ended_ || begin_ == end_) return false;
  const uint64_t at = position();
  SHOAL_ASSIGN_OR_RETURN(size_t held, Hold(kHeader));
  if (held == 0) {
    if (end_ != kToTheEnd && at < end_) {
      return absl::DataLossError(
          absl::StrCat("the file ends at byte ", at,
                       ", before the end of its piece at ", end_,
                       ": the file changed"));
    }
    if (end_ != kToTheEnd) SHOAL_RETURN_IF_ERROR(CheckEnd(at));
    ended_ = true;
    return false;
  }
  if (held < kHeader) return Cut(at, "the header of a record", held, kHeader);
  const absl::string_view header(buffer_.data() + next_, kHeader);
  if (!TfRecordFrame::IsHeader(header)) {
    return absl::DataLossError(absl::StrCat(
        "byte ", at,
        ": no TFRecord begins here (the checksum of its length does not "
        "match); the file is damaged, or is not a TFRecord file"));
  }
  const uint64_t length = TfRecordFrame::Length(header);
  record->bytes = {};
  record->damage.clear();
  if (length > max_record_bytes_) {
    SHOAL_ASSIGN_OR_RETURN(const bool whole, SkipLong(length));
    record->damage = absl::StrCat(
        "record of ", length, " bytes, more than ", max_record_bytes_,
        whole ? "" : ", and its checksum does not match");
  } else {
    const uint64_t wanted = kHeader + length + kFooter;
    SHOAL_ASSIGN_OR_RETURN(held, Hold(wanted));
    if (held < wanted) return Cut(at, "a record", held, wanted);
    const char* const payload = buffer_.data() + next_ + kHeader;
    if (HasCrc(payload, length, payload + length)) {
      if (at >= end_) {
        ended_ = true;
        SHOAL_RETURN_IF_ERROR(CheckEnd(at));
        return false;
      }
      record->bytes = absl::string_view(payload, length);
    } else {
      record->damage = "the checksum of the record does not match";
    }
    next_ += wanted;
  }
  record->offset = at;
  record->number = ++records_;
  return true;
}

absl::StatusOr<size_t> TfRecordSource::Hold(uint64_t bytes) {
  while (filled_ - next_ < bytes && !eof_) {
    SHOAL_RETURN_IF_ERROR(CheckCancelled());
    if (next_ > 0) {
      std::memmove(buffer_.data(), buffer_.data() + next_, filled_ - next_);
      base_ += next_;
      filled_ -= next_;
      next_ = 0;
    }
    const uint64_t at = base_ + filled_;
    const size_t want =
        at < end_ ? std::min(kChunkBytes, end_ - at) : kTailBytes;
    if (buffer_.size() < filled_ + want) buffer_.resize(filled_ + want);
    SHOAL_ASSIGN_OR_RETURN(
        const size_t got,
        bytes_->Read(at, absl::MakeSpan(buffer_).subspan(filled_, want)));
    filled_ += got;
    eof_ = got < want;
  }
  return filled_ - next_;
}

absl::StatusOr<bool> TfRecordSource::SkipLong(uint64_t length) {
  const uint64_t at = position();
  next_ += TfRecordFrame::kHeaderBytes;
  uint32_t crc = 0;
  for (uint64_t left = length; left > 0;) {
    SHOAL_ASSIGN_OR_RETURN(const size_t held, Hold(1));
    if (held == 0) return Cut(at, "a record", length - left, length);
    const size_t n = std::min<uint64_t>(held, left);
    crc = Crc32cExtend(crc, absl::string_view(buffer_.data() + next_, n));
    next_ += n;
    left -= n;
  }
  SHOAL_ASSIGN_OR_RETURN(const size_t held, Hold(TfRecordFrame::kFooterBytes));
  if (held < TfRecordFrame::kFooterBytes) {
    return Cut(at, "the end of a record", held, TfRecordFrame::kFooterBytes);
  }
  const auto expected = Load<uint32_t>(buffer_.data() + next_);
  next_ += TfRecordFrame::kFooterBytes;
  return MaskedCrc32c(crc) == expected;
}

absl::StatusOr<uint64_t> TfRecordSource::Scan(uint64_t from, uint64_t limit) {
  constexpr size_t kHeader = TfRecordFrame::kHeaderBytes;
  std::vector<char> buffer(std::min(kChunkBytes, limit - from) + kHeader - 1);
  while (from < limit) {
    SHOAL_RETURN_IF_ERROR(CheckCancelled());
    const size_t want =
        std::min<uint64_t>(buffer.size(), limit - from + kHeader - 1);
    SHOAL_ASSIGN_OR_RETURN(
        const size_t got,
        bytes_->Read(from, absl::MakeSpan(buffer).subspan(0, want)));
    if (got < kHeader) break;
    const size_t tried = got - kHeader + 1;
    for (size_t i = 0; i < tried; ++i) {
      const absl::string_view header(buffer.data() + i, kHeader);
      if (!TfRecordFrame::IsHeader(header)) continue;
      SHOAL_ASSIGN_OR_RETURN(const bool sound,
                             IsSound(from + i, TfRecordFrame::Length(header)));
      if (sound) return from + i;
    }
    from += tried;
  }
  return limit;
}

absl::StatusOr<bool> TfRecordSource::IsSound(uint64_t at, uint64_t length) {
  if (length > max_record_bytes_) return false;
  const size_t wanted = length + TfRecordFrame::kFooterBytes;
  std::vector<char> payload(wanted);
  SHOAL_ASSIGN_OR_RETURN(
      const size_t got,
      bytes_->Read(at + TfRecordFrame::kHeaderBytes, absl::MakeSpan(payload)));
  return got == wanted &&
         HasCrc(payload.data(), length, payload.data() + length);
}

absl::Status TfRecordSource::CheckEnd(uint64_t at) {
  // The next piece only tries its own bytes, or begins further on.
  SHOAL_ASSIGN_OR_RETURN(const uint64_t found, Scan(end_, at));
  if (found == at) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat(
      "records begin both at byte ", found, " and at byte ", at,
      ", within one of them: its payload holds TFRecord data, so that the file "
      "cannot be divided into pieces; read it whole with --piece_bytes=0"));
}

absl::Status TfRecordSource::Cut(uint64_t at, absl::string_view what,
                                 uint64_t held, uint64_t wanted) const {
  return absl::DataLossError(
      absl::StrCat("byte ", at, ": the data ends within ", what, ", after ",
                   held, " of ", wanted, " bytes: the file is truncated"));
}

absl::Status TfRecordSource::CheckCancelled() const {
  if (cancelled_ != nullptr && cancelled_->load(std::memory_order_relaxed)) {
    return absl::CancelledError("reading was cancelled");
  }
  return absl::OkStatus();
}

}  // namespace shoal
