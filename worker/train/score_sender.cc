#include "worker/train/score_sender.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "base/check.h"
#include "core/label.h"

namespace shoal {

ScoreSender::ScoreSender(ScoreSenderOptions options, const Lease& lease,
                         absl::Time now)
    : options_(options),
      batch_size_(lease.batch_size),
      infers_(lease.purpose == LeasePurpose::kInfer),
      since_(now) {
  scores_.lease = lease.number;
  scores_.epoch = lease.epoch;
  scores_.piece = lease.piece.index;
}

void ScoreSender::Add(uint32_t batch, absl::Span<const float> logits,
                      absl::Span<const uint8_t> labels, absl::Time now,
                      Send send) {
  const size_t C = labels.empty() ? 1 : logits.size() / labels.size();
  SHOAL_DCHECK(C >= 1 && logits.size() == labels.size() * C);
  const size_t most = std::max<size_t>(options_.max_scores / C, 1);
  const uint64_t offset = uint64_t{batch} * batch_size_;
  if (offset != next_ && !scores_.labels.empty()) {
    SendAll(/*more=*/true, now, send);
  }
  size_t taken = 0;
  while (taken < labels.size()) {
    if (scores_.labels.empty()) scores_.offset = offset + taken;
    const size_t n =
        std::min(labels.size() - taken, most - scores_.labels.size());
    const auto part = logits.subspan(taken * C, n * C);
    scores_.logits.insert(scores_.logits.end(), part.begin(), part.end());
    const auto of_part = labels.subspan(taken, n);
    scores_.labels.insert(scores_.labels.end(), of_part.begin(), of_part.end());
    taken += n;
    if (scores_.labels.size() == most) {
      SendAll(/*more=*/true, now, send);
    }
  }
  next_ = offset + labels.size();
  if (!scores_.labels.empty() && now - since_ >= options_.interval) {
    SendAll(/*more=*/true, now, send);
  }
}

void ScoreSender::End(uint64_t examples, absl::Time now, Send send) {
  next_ = examples;
  SendAll(/*more=*/false, now, send);
}

void ScoreSender::SendAll(bool more, absl::Time now, Send send) {
  if (scores_.labels.empty()) scores_.offset = next_;
  if (infers_ && !scores_.labels.empty()) BadRowsToNaN();
  EvalResult next;
  next.lease = scores_.lease;
  next.epoch = scores_.epoch;
  next.piece = scores_.piece;
  scores_.more = more;
  send(std::exchange(scores_, std::move(next)));
  since_ = now;
}

void ScoreSender::BadRowsToNaN() {
  const size_t C = scores_.logits.size() / scores_.labels.size();
  for (size_t i = 0; i < scores_.labels.size(); ++i) {
    if (scores_.labels[i] != BadRowLabel(options_.num_labels)) continue;
    std::fill_n(scores_.logits.begin() + static_cast<ptrdiff_t>(i * C), C,
                std::nanf(""));
  }
}

}  // namespace shoal
