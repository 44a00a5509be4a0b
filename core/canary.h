#ifndef SHOAL_CORE_CANARY_H_
#define SHOAL_CORE_CANARY_H_

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
// 1 is added exactly: one float from 0, SGD of rate 1, gradient -1.

inline constexpr float kCanaryGradient = -1;

// Adds the table to a model: its last one, on every shard. It belongs to no
// batch's ids; models do not know of it.
void AddCanary(ModelSpec* spec);

// The canary row of a batch: epoch, piece and index in 16, 24 and 24 bits.
// INVALID_ARGUMENT where they do not fit.
absl::StatusOr<FeatureId> CanaryRow(const BatchId& batch);

}  // namespace shoal

#endif  // SHOAL_CORE_CANARY_H_
