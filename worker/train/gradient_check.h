#ifndef SHOAL_WORKER_TRAIN_GRADIENT_CHECK_H_
#define SHOAL_WORKER_TRAIN_GRADIENT_CHECK_H_

#include "worker/client/sharded_client.h"

namespace shoal {

// The worker's decisions about the gradient of a whole batch. They are made
// before the gradient is split, so that every shard gets the same verdict.
// Pure; thread-safe.

// The L2 norm of all dense gradients and all row gradients; the gradient of a
// row is its sum over the batch. Squares are summed in double, dense elements
// first, then rows in the order of their first occurrence in the batch, so that
// the result has the same bits for every number of shards. Infinite or NaN if a
// gradient is. REQUIRES: the step is prepared and its gradients are computed.
double GradientNorm(const StepParameters& parameters);

// Sets parameters->rejected, which is true if loss_sum is a NaN or an infinity,
// or if the gradient is not sound (core/sound_gradient.h). If it is false and
// clip_norm > 0 (0: no clipping), multiplies the gradient by
//   min(1, clip_norm / GradientNorm)
// which is clipping by the global norm (Pascanu, Mikolov, Bengio, ICML 2013).
// clip_norm has the unit of the gradient: for the gradient of a sum over B
// examples (ModelInput::loss_divisor is 1) it is B times that of the mean.
// REQUIRES: as for GradientNorm.
void CheckGradient(double loss_sum, double clip_norm,
                   StepParameters* parameters);

}  // namespace shoal

#endif  // SHOAL_WORKER_TRAIN_GRADIENT_CHECK_H_
