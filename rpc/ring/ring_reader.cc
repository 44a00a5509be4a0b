#include "rpc/ring/ring_reader.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace shoal {
namespace {

constexpr size_t kDropBytes = 64 << 10;

}  // namespace

absl::StatusOr<RingReader::Result> RingReader::Read(ReadFunction read) {
  while (true) {
    if (state_ == kWait) {
      SHOAL_RETURN_IF_ERROR(Land());
      if (state_ == kWait) return Result::kWaits;
    }
    while (begin_ < end_ || state_ == kBody) {
      const absl::StatusOr<bool> whole = Use();
      SHOAL_RETURN_IF_ERROR(whole.status());
      if (failed_) return Result::kFailure;
      if (*whole) return Result::kChunk;
      if (state_ == kWait) return Result::kWaits;
      if (begin_ == end_) break;
    }
    const ssize_t got = Fill(read);
    if (got == 0) return Result::kEnd;
    if (got == -EAGAIN || got == -EWOULDBLOCK) return Result::kBlocked;
    if (got < 0 && got != -EINTR) {
      return absl::UnavailableError(std::strerror(static_cast<int>(-got)));
    }
    if (state_ == kInto && had_ == memory_.size()) {
      operations_->Landed();
      state_ = kHead;
      had_ = 0;
      return Result::kChunk;
    }
    if (state_ == kDrop && had_ == header_.length) {
      state_ = kHead;
      had_ = 0;
      return Result::kChunk;
    }
  }
}

size_t RingReader::Take(char* to, size_t most) {
  const size_t bytes = std::min(most, end_ - begin_);
  if (to != nullptr) std::memcpy(to, buffer_.data() + begin_, bytes);
  begin_ += bytes;
  return bytes;
}

absl::StatusOr<bool> RingReader::Use() {
  switch (state_) {
    case kHead:
      had_ += Take(head_.data() + had_, head_.size() - had_);
      if (had_ == head_.size()) SHOAL_RETURN_IF_ERROR(OnHead());
      return false;
    case kBody:
      had_ += Take(body_.data() + had_, body_.size() - had_);
      if (had_ == body_.size()) SHOAL_RETURN_IF_ERROR(OnBody());
      return false;
    case kInto:
      had_ += Take(memory_.data() + had_, memory_.size() - had_);
      if (had_ < memory_.size()) return false;
      operations_->Landed();
      break;
    case kDrop:
      had_ += Take(nullptr, header_.length - had_);
      if (had_ < header_.length) return false;
      break;
    case kWait:
      return false;
  }
  state_ = kHead;
  had_ = 0;
  return true;
}

absl::Status RingReader::OnHead() {
  absl::StatusOr<RingFrameHeader> header = DecodeHeader(
      absl::string_view(head_.data(), head_.size()), settings_.chunk_bytes);
  SHOAL_RETURN_IF_ERROR(header.status());
  header_ = *header;
  had_ = 0;
  if (header_.kind == RingFrameKind::kData) {
    if (operations_ == nullptr) {
      return absl::DataLossError("data from the rank that takes data");
    }
    return Land();
  }
  body_.resize(header_.length);
  state_ = kBody;
  return absl::OkStatus();
}

absl::Status RingReader::Land() {
  absl::StatusOr<RingOperations::Landing> landing =
      operations_->OnData(header_);
  SHOAL_RETURN_IF_ERROR(landing.status());
  switch (landing->what) {
    case RingOperations::Landing::kWait:
      state_ = kWait;
      break;
    case RingOperations::Landing::kDrop:
      state_ = kDrop;
      break;
    case RingOperations::Landing::kInto:
      state_ = kInto;
      memory_ = landing->memory;
      break;
  }
  return absl::OkStatus();
}

absl::Status RingReader::OnBody() {
  state_ = kHead;
  had_ = 0;
  if (header_.kind == RingFrameKind::kFailure) {
    if (header_.position >= static_cast<uint64_t>(settings_.size)) {
      return absl::DataLossError(
          absl::StrCat("a failure of rank ", header_.position));
    }
    failed_ = true;
    failure_.rank = static_cast<int>(header_.position);
    failure_.text = PrintableText(body_);
    return absl::OkStatus();
  }
  if (operations_ == nullptr) {
    return absl::DataLossError("an announcement from the wrong side");
  }
  SHOAL_ASSIGN_OR_RETURN(CollectiveOperation operation,
                         DecodeAnnouncement(body_));
  return operations_->OnAnnouncement(header_, std::move(operation));
}

ssize_t RingReader::Fill(ReadFunction read) {
  begin_ = end_ = 0;
  iovec ranges[2];
  int count = 0;
  if (state_ == kInto) {
    ranges[count++] = {memory_.data() + had_, memory_.size() - had_};
  } else if (state_ == kDrop) {
    if (dropped_ == nullptr) dropped_ = std::make_unique<char[]>(kDropBytes);
    ranges[count++] = {dropped_.get(),
                       std::min(kDropBytes, size_t{header_.length} - had_)};
  }
  const size_t direct = count == 0 ? 0 : ranges[0].iov_len;
  ranges[count++] = {buffer_.data(), buffer_.size()};
  const ssize_t got = read(ranges, count);
  if (got <= 0) return got;
  const size_t bytes = static_cast<size_t>(got);
  had_ += std::min(bytes, direct);
  end_ = bytes - std::min(bytes, direct);
  return got;
}

}  // namespace shoal
