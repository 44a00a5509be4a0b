#ifndef SHOAL_CORE_CANARY_H_
#define SHOAL_CORE_CANARY_H_

#include <array>

#include "absl/status/statusor.h"
#include "core/ids.h"
#include "core/model_spec.h"

namespace shoal {

// The canary is a test table (--canary) in which every push of a batch adds 1
// to the row of that batch, on every shard. It goes the ordinary way of rows,
// from the worker's client to the optimizer, and knows nothing of the marks: so
// it is an oracle, independent of them, for "applied exactly once". At the end
// each shard must have one row for each batch that was applied, holding 1.
//
// A second column of the row gets a number of the start of the job whose worker
// sent the push: a push of an earlier job on the same port is seen even where
// its data, and so its gradient, are those of the present job.
//
// Both are added exactly: floats from 0, SGD of rate 1, whole numbers of at
// most 2^23 in size.

// Adds the table to a model: its last one, on every shard. It belongs to no
// batch's ids; models do not know of it.
void AddCanary(ModelSpec* spec);

// The canary row of a batch: epoch, piece and index in 16, 24 and 24 bits.
// INVALID_ARGUMENT where they do not fit.
absl::StatusOr<FeatureId> CanaryRow(const BatchId& batch);

// The number that the second column of a row holds where its one push came from
// a worker of this start: in [1, 2^23]. Two starts share a number by chance,
// once in 2^23 times.
float CanaryOfStart(StartNumber start);

// What a push of a worker of this start brings for its row.
std::array<float, 2> CanaryGradients(StartNumber start);

}  // namespace shoal

#endif  // SHOAL_CORE_CANARY_H_
