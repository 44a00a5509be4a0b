#ifndef SHOAL_CORE_PUSHED_BATCH_H_
#define SHOAL_CORE_PUSHED_BATCH_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "core/ids.h"

namespace shoal {

// One batch of a push.
struct PushedBatch {
  BatchId id;
  // The lease under which the gradient was computed. It names the forward pass:
  // parts of one batch from two leases are counted as mended.
  uint64_t lease = 0;
  uint32_t examples = 0;  // of the batch; 0 if the sender does not tell
  // True if the sender found that the batch's loss or gradient is not sound. It
  // has left this batch out of the push's gradient, and every shard marks the
  // batch kRejected.
  bool rejected = false;

  friend bool operator==(const PushedBatch&, const PushedBatch&) = default;
};

// The batches of a push. Asynchronous training pushes one batch at a time.
using PushedBatches = absl::InlinedVector<PushedBatch, 1>;

// The most batches of one push: one for each of the most ranks of a job, which
// has at most this many sessions.
inline constexpr size_t kMaxPushedBatches = 4096;

// INVALID_ARGUMENT if the list is empty, has more than kMaxPushedBatches
// batches, or names a batch twice. Allocates nothing for one batch.
absl::Status CheckPushedBatches(absl::Span<const PushedBatch> batches);

// True if the sender has rejected every batch, so that the push may bring no
// gradient.
bool AllRejected(absl::Span<const PushedBatch> batches);

// "batch (0,1,2)", or "batches (0,1,2) and 39 more". REQUIRES: not empty.
std::string ToString(absl::Span<const PushedBatch> batches);

}  // namespace shoal

#endif  // SHOAL_CORE_PUSHED_BATCH_H_
