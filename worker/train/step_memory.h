#ifndef SHOAL_WORKER_TRAIN_STEP_MEMORY_H_
#define SHOAL_WORKER_TRAIN_STEP_MEMORY_H_

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "base/aligned_buffer.h"
#include "core/pushed_batch.h"
#include "worker/client/sharded_client.h"

namespace shoal {

// A step of `--mode=ring` as all ranks made it together: what each of them
// pushes to its own replica. A rank keeps its newest step, so that it can be
// given to a rank whose replica lacks it (ring_level.h).
struct StepMemory {
  PushedBatches batches;
  // Ready to be pushed to one shard; not valid if all batches are rejected.
  StepParameters gradient;

  bool rejected() const;
};

// Overwrites *out with the bytes of the step (docs/wire_protocol.md, "The
// newest step"). `row_dims` has the floats of a row for each table. REQUIRES:
// the step has a batch, and a gradient for these tables unless rejected().
void EncodeStep(const StepMemory& step, absl::Span<const int> row_dims,
                AlignedBuffer<char>* out);

// The step that `bytes` are; fills batches, d_dense and, for each table,
// split.ids, split.begin and d_rows. Any bytes may come: DATA_LOSS says what is
// wrong with them; FAILED_PRECONDITION: another version, or a model of other
// variables. `dense_size`: floats of all dense variables. REQUIRES:
// bytes.data() is aligned for FeatureId.
absl::Status DecodeStep(absl::Span<const char> bytes,
                        absl::Span<const int> row_dims, size_t dense_size,
                        StepMemory* step);

}  // namespace shoal

#endif  // SHOAL_WORKER_TRAIN_STEP_MEMORY_H_
