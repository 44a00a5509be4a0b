#ifndef SHOAL_WORKER_TRAIN_SCORE_SENDER_H_
#define SHOAL_WORKER_TRAIN_SCORE_SENDER_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "core/lease.h"
#include "core/session_messages.h"

namespace shoal {

struct ScoreSenderOptions {
  // The most scores in one message to the coordinator (but always at least the
  // scores of one example), and the longest time between two messages of a
  // piece. A message also tells the coordinator that the piece is still being
  // scored.
  uint64_t max_scores = 64 << 10;
  absl::Duration interval = absl::Milliseconds(500);
  // Number of labels of the model's objective. In an inference, rows with the
  // label after the last one (core/label.h, BadRowLabel) score NaN.
  int num_labels = 2;
};

// Sends the scores of one leased evaluation piece to the coordinator. It
// gathers the scores of consecutive examples, C each, into messages. In an
// inference, the scores of rows that could not be parsed become NaN. Pure
// logic; one owner.
class ScoreSender {
 public:
  using Send = absl::FunctionRef<void(EvalResult)>;

  ScoreSender(ScoreSenderOptions options, const Lease& lease, absl::Time now);

  // Takes the scores of a batch, and sends the messages that are due. Batches
  // that were skipped leave a gap, which no message spans. REQUIRES: `batch` is
  // larger than in the calls before; logits are B × C and labels B, with the
  // same C in every batch.
  void Add(uint32_t batch, absl::Span<const float> logits,
           absl::Span<const uint8_t> labels, absl::Time now, Send send);

  // Ends the piece, which has `examples` examples. Its last batches may have
  // been skipped. Sends the last message, which may be empty.
  void End(uint64_t examples, absl::Time now, Send send);

 private:
  void SendAll(bool more, absl::Time now, Send send);
  void BadRowsToNaN();

  const ScoreSenderOptions options_;
  const uint32_t batch_size_;
  const bool infers_;
  EvalResult scores_;  // not sent yet
  absl::Time since_;   // the time of the newest message
  uint64_t next_ = 0;  // the end of the newest batch in the piece
};

}  // namespace shoal

#endif  // SHOAL_WORKER_TRAIN_SCORE_SENDER_H_
