#include "worker/data/decompressed_bytes.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace shoal {
namespace {

constexpr size_t kInputBytes = 64 << 10;
constexpr size_t kSkipBytes = 64 << 10;

}  // namespace

DecompressedBytes::DecompressedBytes(const RandomAccessFile* file,
                                     std::unique_ptr<StreamDecoder> decoder,
                                     const std::atomic<bool>* cancelled)
    : file_(file),
      decoder_(std::move(decoder)),
      cancelled_(cancelled),
      input_(std::min<uint64_t>(kInputBytes, file->size())) {}

absl::StatusOr<size_t> DecompressedBytes::Read(uint64_t position,
                                               absl::Span<char> out) {
  if (position < position_) SHOAL_RETURN_IF_ERROR(Restart());
  std::vector<char> skipped;
  while (position_ < position) {
    skipped.resize(kSkipBytes);
    const size_t want = std::min<uint64_t>(kSkipBytes, position - position_);
    SHOAL_ASSIGN_OR_RETURN(const size_t got,
                           ReadNext(absl::MakeSpan(skipped).subspan(0, want)));
    if (got < want) return 0;
  }
  return ReadNext(out);
}

absl::StatusOr<size_t> DecompressedBytes::ReadNext(absl::Span<char> out) {
  size_t done = 0;
  int idle = 0;  // calls in a row that neither consumed nor produced
  while (done < out.size()) {
    if (next_ == filled_ && !input_ended_) SHOAL_RETURN_IF_ERROR(Fill());
    const absl::string_view in(input_.data() + next_, filled_ - next_);
    absl::StatusOr<StreamDecoder::Step> step =
        decoder_->Decode(in, out.subspan(done));
    if (!step.ok()) {
      return Annotate(step.status(),
                      absl::StrCat(between_ && position_ > 0
                                       ? "the bytes after a member at byte "
                                       : "damaged near byte ",
                                   input_base_ + next_));
    }
    next_ += step->consumed;
    done += step->produced;
    position_ += step->produced;
    between_ = step->between;
    if (step->consumed != 0 || step->produced != 0) {
      idle = 0;
      continue;
    }
    if (!in.empty() && ++idle > 1) {
      return absl::DataLossError(
          absl::StrCat("damaged near byte ", input_base_ + next_,
                       ": the decoder cannot continue"));
    }
    if (!in.empty() || !input_ended_) continue;
    if (between_) break;
    return absl::DataLossError(absl::StrCat(
        "the compressed file ends at byte ", input_base_ + filled_,
        " within a member: it is truncated"));
  }
  return done;
}

absl::Status DecompressedBytes::Restart() {
  SHOAL_RETURN_IF_ERROR(decoder_->Reset());
  position_ = 0;
  input_base_ = 0;
  next_ = 0;
  filled_ = 0;
  input_ended_ = false;
  between_ = true;
  return absl::OkStatus();
}

absl::Status DecompressedBytes::Fill() {
  if (cancelled_ != nullptr && cancelled_->load(std::memory_order_relaxed)) {
    return absl::CancelledError("reading was cancelled");
  }
  input_base_ += filled_;
  next_ = 0;
  filled_ = 0;
  SHOAL_ASSIGN_OR_RETURN(filled_,
                         file_->Read(input_base_, absl::MakeSpan(input_)));
  // A file that shrank ends within a member; a file that grew is read to its
  // new end.
  input_ended_ = filled_ < input_.size() || input_.empty();
  return absl::OkStatus();
}

}  // namespace shoal
