#ifndef SHOAL_CORE_LEASE_H_
#define SHOAL_CORE_LEASE_H_

#include <cstdint>
#include <vector>

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

// To evaluate is to score the piece's rows; to infer is the same for rows whose
// labels mean nothing and whose place must be kept (EvalResult).
enum class LeasePurpose : uint8_t { kTrain = 1, kEvaluate = 2, kInfer = 3 };

// A piece given to one worker until a time that each heartbeat renews.
struct Lease {
  uint64_t number = 0;  // grows within a job; names the forward passes under it
  LeasePurpose purpose = LeasePurpose::kTrain;
  uint32_t epoch = 0;  // of an evaluation: which evaluation
  Piece piece;
  uint32_t batch_size = 0;  // examples; fixed with the piece table
  // Batches not to train: complete, or left to another lease. Bit i of byte
  // i / 8 is batch i; batches beyond the end are to be trained.
  std::vector<uint8_t> skip;
  // A speculative copy works from the end, towards the straggler.
  bool backwards = false;
  Colour colour = 0;  // for batches that no shard has seen
  // Batches beyond the end of `skip` are not to be trained either: the lease is
  // of a few batches that lack a mark.
  bool skip_rest = false;
  // Batches that a shard has rejected and another shard has not marked yet, as
  // bits like `skip`: whatever this pass makes of such a batch, it is pushed as
  // rejected, so that all shards have one verdict.
  std::vector<uint8_t> rejected;

  bool Skips(uint32_t index) const {
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
