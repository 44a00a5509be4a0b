#ifndef SHOAL_CORE_LEASE_H_
#define SHOAL_CORE_LEASE_H_

#include <cstdint>
#include <limits>
#include <vector>

#include "base/check.h"
#include "core/ids.h"

namespace shoal {

// A piece of the data: bytes [begin, end) of source `source`; a record belongs
// to the piece that holds its first byte.
struct Piece {
  uint32_t index = 0;   // in the piece table of its purpose
  uint32_t source = 0;  // index into the sources of its purpose
  uint64_t begin = 0;
  uint64_t end = 0;
};

// The purpose of a lease. Both kEvaluate and kInfer score the rows of the
// piece. With kInfer labels mean nothing, and every row keeps its place
// (EvalResult).
enum class LeasePurpose : uint8_t { kTrain = 1, kEvaluate = 2, kInfer = 3 };

// A piece given to one worker until a time that each heartbeat renews.
struct Lease {
  uint64_t number = 0;  // grows within a job; names the lease's forward passes
  LeasePurpose purpose = LeasePurpose::kTrain;
  uint32_t epoch = 0;  // for kEvaluate, the number of the evaluation
  Piece piece;
  uint32_t batch_size = 0;  // examples; fixed with the piece table
  // Batches not to train, since they are complete or left to another lease;
  // `stride` leaves out further ones. Batch i is bit i % 8 of byte i / 8.
  // Batches beyond the end are to be trained, unless skip_rest is set.
  std::vector<uint8_t> skip;
  // True for a speculative copy, which works from the end towards the
  // straggler.
  bool backwards = false;
  Colour colour = 0;  // colour of batches that no shard has seen
  // True if batches beyond the end of `skip` are not to be trained either: the
  // lease is for a few batches that lack a mark.
  bool skip_rest = false;
  // Batches that one shard has rejected and another shard has not marked yet,
  // as bits like `skip`. The worker pushes such a batch as rejected, whatever
  // it computes, so that all shards have the same verdict.
  std::vector<uint8_t> rejected;
  // Of the batches of the piece, the lease has those whose index, divided by
  // `stride`, leaves `offset`; other leases have the others. 1 and 0: the lease
  // has all batches. REQUIRES: offset < stride.
  uint32_t stride = 1;
  uint32_t offset = 0;
  // The offset of a lease without batches: no batch has this index.
  static constexpr uint32_t kNoBatch =
      std::numeric_limits<uint32_t>::max() - 1;
  // True if this is the last lease of its lane: after its batches the rank
  // trains nothing more in this epoch (cluster/lane_deal.h).
  bool last_of_lane = false;

  // True if the lease has no batch, so that nothing of its piece is to be read.
  bool empty() const { return offset == kNoBatch; }
  // True if the lease's worker does not train batch `index`.
  bool Skips(uint32_t index) const {
    SHOAL_DCHECK(offset < stride);
    if (index % stride != offset) return true;
    if (index / 8 >= skip.size()) return skip_rest;
    return skip[index / 8] >> (index % 8) & 1;
  }
  bool Rejected(uint32_t index) const {
    return index / 8 < rejected.size() &&
           rejected[index / 8] >> (index % 8) & 1;
  }
};

}  // namespace shoal

#endif  // SHOAL_CORE_LEASE_H_
