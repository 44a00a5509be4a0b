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
  // Scores that a message to the coordinator holds, at most (though always
  // those of one example), and how long they may wait until they are sent all
  // the same: a message tells the coordinator that the piece goes on.
  uint64_t max_scores = 64 << 10;
  absl::Duration interval = absl::Milliseconds(500);
};

// The scores of one leased evaluation piece on their way to the coordinator:
// gathers those of consecutive examples, C each, into messages. Those of rows
// that could not be parsed, of an inference, become NaN. Pure logic; one owner.
class ScoreSender {
 public:
  using Send = absl::FunctionRef<void(EvalResult)>;

  ScoreSender(ScoreSenderOptions options, const Lease& lease, absl::Time now);

  // Takes the scores of a batch, its index larger than those of the batches
  // before, and sends what is due. Batches that were skipped leave a gap, which
  // no message spans. REQUIRES: logits are B × C, labels B, C the same in every
  // batch.
  void Add(uint32_t batch, absl::Span<const float> logits,
           absl::Span<const uint8_t> labels, absl::Time now, Send send);

  // The piece ends after `examples`, with the batches that were added or with
  // some that were skipped. Sends the last message, which may be empty.
  void End(uint64_t examples, absl::Time now, Send send);

 private:
  void SendAll(bool more, absl::Time now, Send send);
  void BadRowsToNaN();

  const ScoreSenderOptions options_;
  const uint32_t batch_size_;
  const bool infers_;
  EvalResult scores_;  // not sent yet
  absl::Time since_;   // the newest message
  uint64_t next_ = 0;  // the end of the newest batch, in the piece
};

}  // namespace shoal

#endif  // SHOAL_WORKER_TRAIN_SCORE_SENDER_H_
