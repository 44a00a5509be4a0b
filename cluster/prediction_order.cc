#include "cluster/prediction_order.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace shoal {

PredictionOrder::PredictionOrder(uint32_t num_pieces, uint32_t window,
                                 uint64_t max_scores)
    : window_(window), max_scores_(max_scores), pieces_(num_pieces) {}

absl::Status PredictionOrder::Add(uint32_t piece,
                                  const std::vector<float>& logits, bool last) {
  if (logits.size() >
      max_scores_ - std::min(max_scores_, waiting_ + on_their_way_)) {
    return absl::ResourceExhaustedError(
        absl::StrCat("more than ", max_scores_,
                     " predictions wait for those before them, of "
                     "piece ",
                     next_,
                     "; give smaller files or a smaller --piece_bytes, or "
                     "fewer workers"));
  }
  Piece& to = pieces_[piece];
  to.logits.insert(to.logits.end(), logits.begin(), logits.end());
  to.whole = last;
  waiting_ += logits.size();
  return absl::OkStatus();
}

std::vector<float> PredictionOrder::TakeReady() {
  std::vector<float> ready;
  while (next_ < pieces_.size()) {
    Piece& piece = pieces_[next_];
    std::vector<float> logits = std::exchange(piece.logits, {});
    if (ready.empty()) {
      ready = std::move(logits);
    } else {
      ready.insert(ready.end(), logits.begin(), logits.end());
    }
    if (!piece.whole) break;
    ++next_;
  }
  waiting_ -= ready.size();
  on_their_way_ += ready.size();
  return ready;
}

uint32_t PredictionOrder::limit() {
  const uint32_t ahead =
      waiting_ + on_their_way_ < max_scores_ / 2 ? window_ : 0;
  const uint64_t limit = uint64_t{next_} + 1 + ahead;
  limit_ = std::max(
      limit_, static_cast<uint32_t>(std::min<uint64_t>(limit, pieces_.size())));
  return limit_;
}

}  // namespace shoal
