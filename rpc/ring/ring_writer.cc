#include "rpc/ring/ring_writer.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

namespace shoal {
namespace {

constexpr size_t kFramesAtOnce = 8;
constexpr size_t kBytesAtOnce = 256 << 10;

size_t SizeOf(const RingFrameOut& frame) {
  return frame.head.size() + frame.payload.size();
}

}  // namespace

void RingWriter::Fetch() {
  while (operations_ != nullptr && frames_.size() < kFramesAtOnce &&
         queued_ < kBytesAtOnce) {
    std::optional<RingFrameOut> frame = operations_->NextFrame();
    if (!frame.has_value()) return;
    queued_ += SizeOf(*frame);
    frames_.push_back(*std::move(frame));
  }
}

absl::StatusOr<bool> RingWriter::Write(WriteFunction write) {
  while (true) {
    Fetch();
    if (frames_.empty()) return true;
    iovec ranges[2 * kFramesAtOnce];
    int count = 0;
    size_t skip = begun_;
    for (const RingFrameOut& frame : frames_) {
      for (const absl::Span<const char> part :
           {absl::Span<const char>(frame.head), frame.payload}) {
        const size_t skipped = std::min(skip, part.size());
        skip -= skipped;
        if (skipped == part.size()) continue;
        ranges[count++] = {const_cast<char*>(part.data()) + skipped,
                           part.size() - skipped};
      }
    }
    const ssize_t wrote = write(ranges, count);
    if (wrote == -EAGAIN || wrote == -EWOULDBLOCK) return false;
    if (wrote == -EINTR) continue;
    if (wrote < 0) {
      return absl::UnavailableError(std::strerror(static_cast<int>(-wrote)));
    }
    Written(static_cast<size_t>(wrote));
  }
}

void RingWriter::Written(size_t bytes) {
  bytes_ += bytes;
  begun_ += bytes;
  while (!frames_.empty() && begun_ >= SizeOf(frames_.front())) {
    begun_ -= SizeOf(frames_.front());
    queued_ -= SizeOf(frames_.front());
    if (operations_ != nullptr) operations_->OnSent(frames_.front());
    frames_.pop_front();
  }
}

void RingWriter::Finish(absl::string_view frame) {
  operations_ = nullptr;
  std::string rest;
  if (begun_ > 0) {
    rest = frames_.front().head;
    rest.append(frames_.front().payload.data(),
                frames_.front().payload.size());
    rest.erase(0, begun_);
  }
  rest.append(frame.data(), frame.size());
  frames_.clear();
  begun_ = 0;
  queued_ = rest.size();
  frames_.push_back({std::move(rest), {}, 0});
}

}  // namespace shoal
