#ifndef SHOAL_CORE_CANARY_H_
#define SHOAL_CORE_CANARY_H_

#include <array>

#include "absl/status/statusor.h"
#include "core/ids.h"
#include "core/model_spec.h"

namespace shoal {

// The canary is a test table (--canary) in which every push of a batch adds 1
// to the row of that batch, on every shard. The row travels as all rows do,
// from the worker's client to the optimizer, and does not depend on the marks.
// So the canary is an independent check of "applied exactly once": at the end
// each shard must have one row, holding 1, for each batch that was applied.
//
// A second column of the row gets a number made from the start number of the
// worker that sent the push. So a push of an earlier job on the same port is
// detected even if its data, and so its gradient, equal those of the present
// job.
//
// Both columns are exact: floats that begin at 0, SGD of rate 1, whole numbers
// of at most 2^23 in size.

// Adds the canary to a model as its last table, on every shard. No batch's ids
// belong to the table, and models do not know of it.
void AddCanary(ModelSpec* spec);

// The canary row of a batch: epoch, piece and index in 16, 24 and 24 bits.
// INVALID_ARGUMENT if they do not fit.
absl::StatusOr<FeatureId> CanaryRow(const BatchId& batch);

// The value of the second column of a row that got one push, from a worker of
// this start: in [1, 2^23]. Two starts share a number by chance, once in 2^23
// times.
float CanaryOfStart(StartNumber start);

// The gradients of the canary row in a push of a worker of this start.
std::array<float, 2> CanaryGradients(StartNumber start);

}  // namespace shoal

#endif  // SHOAL_CORE_CANARY_H_
