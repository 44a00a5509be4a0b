#ifndef SHOAL_WORKER_TRAIN_GRADIENT_CHECK_H_
#define SHOAL_WORKER_TRAIN_GRADIENT_CHECK_H_

#include "worker/client/sharded_client.h"

namespace shoal {

// What a worker decides about the gradient of a whole batch, before it is
// split, so that every shard is told the same. Pure; thread-safe.

// The L2 norm of all dense gradients and of the row gradients, each row's being
// its sum over the batch. Squares are summed in double, dense elements first
// and then rows in the order of their first occurrence in the batch: the result
// has the same bits however the variables are sharded. Infinite or NaN where a
// gradient is. REQUIRES: the step is prepared and its gradients are computed.
double GradientNorm(const StepParameters& parameters);

// Sets parameters->rejected: whether loss_sum is a NaN or an infinity, or the
// gradient is not sound (core/sound_gradient.h). If not, and clip_norm > 0 (0:
// no clipping), multiplies the gradient by min(1, clip_norm / GradientNorm),
// clipping by the global norm (Pascanu, Mikolov, Bengio, ICML 2013). REQUIRES:
// as GradientNorm.
void CheckGradient(double loss_sum, double clip_norm,
                   StepParameters* parameters);

}  // namespace shoal

#endif  // SHOAL_WORKER_TRAIN_GRADIENT_CHECK_H_
