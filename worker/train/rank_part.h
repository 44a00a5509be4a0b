#ifndef SHOAL_WORKER_TRAIN_RANK_PART_H_
#define SHOAL_WORKER_TRAIN_RANK_PART_H_

#include <cstdint>
#include <optional>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "base/aligned_buffer.h"
#include "core/pushed_batch.h"
#include "core/row_merge.h"

namespace shoal {

// What one rank of `--mode=ring` tells all ranks in one round (ring_round.h):
// everything that the ranks must agree on, and the gradients of the rows that
// its batch has touched. The bytes are those of docs/wire_protocol.md, "The
// part of a rank".
struct RankPart {
  // The batch that the rank brings; nullopt: it brings none in this round.
  std::optional<PushedBatch> batch;
  // True if the batch is rejected and its dense gradient was summed already:
  // all ranks must sum again, without this rank's gradient.
  bool tainted = false;
  // True if the rank brings no batch in later rounds of this epoch.
  bool lane_ended = false;
  // Number of the Hold that the rank has got and that was not ended by a
  // Resume; 0: none.
  uint64_t hold = 0;
  // For each table of the model the rows that the batch has touched, in the
  // order of the batch's distinct ids. They have no rows if there is no batch,
  // or if it is rejected.
  absl::InlinedVector<RowGradients, 1> tables;

  // True if the rank can take part in a step: it brings a batch or has no more.
  bool ready() const { return batch.has_value() || lane_ended; }
};

// Overwrites *out with the bytes of `part`. `row_dims` has the floats of a row
// for each table. REQUIRES: part.tables has an entry for each table, with fewer
// than 2^32 rows of that many floats, and no rows if there is no batch or if it
// is rejected; `tainted` only with a rejected batch.
void EncodeRankPart(const RankPart& part, absl::Span<const int> row_dims,
                    AlignedBuffer<char>* out);

// The part that `bytes` are; its tables refer to `bytes`. Any bytes may come:
// DATA_LOSS says what is wrong, and FAILED_PRECONDITION that the rank speaks
// another version or has other tables. Ids are not compared with each other.
// REQUIRES: `bytes` begin on an 8-byte boundary.
absl::StatusOr<RankPart> DecodeRankPart(absl::Span<const char> bytes,
                                        absl::Span<const int> row_dims);

}  // namespace shoal

#endif  // SHOAL_WORKER_TRAIN_RANK_PART_H_
