#ifndef SHOAL_CORE_GRADIENT_SUM_H_
#define SHOAL_CORE_GRADIENT_SUM_H_

#include <cstddef>
#include <cstdint>

#include "absl/types/span.h"
#include "core/model_spec.h"

namespace shoal {

// The arithmetic by which a synchronous mode of training makes one gradient of
// the gradients of its ranks: sums in the order of the ranks, and one division.
//
//   SumInRankOrder({dense_0, dense_1}, sum);       // by rank
//   if (DividesDense(model)) DivideByExamples(examples, sum);
//   merge.Build(row_dim, {rows_0, rows_1});        // core/row_merge.h, by rank
//   if (DividesRows(model, table)) DivideByExamples(examples, merge.rows());
//
// The gradient of a rank is that of the SUM of its batch's loss
// (ModelInput::loss_divisor is 1). Let g_0, g_1, g_2 … be the gradients of the
// ranks, and n the examples of all their batches. Then, in float32 and for each
// element alone,
//
//   mean = (((g_0 + g_1) + g_2) + …) / float32(n)
//
// which is the gradient of the mean loss of the step. The order of the
// additions and the place of the division decide the bits: so sync, ring and
// the oracles of tests all use these functions. A division is exact where a
// factor 1 / n, which is rounded, would not be. A rank whose batch is rejected,
// and a rank without a batch, is left out of both, the sum and n.
//
// The functions check no values: the sum of finite gradients may be infinite.
// Pure; thread-safe.

// A value that adds nothing: x + kAddsNothing has the bits of x for every x,
// which +0.0 would not keep for −0.0. A rank that must take part in a sum
// without a gradient brings this value in each element.
inline constexpr float kAddsNothing = -0.0f;

// Overwrites `sum` with the sum of the ranks' values in their order. It begins
// with the values of the first rank, not with 0. REQUIRES: at least one rank;
// all spans have the size of `sum`; `sum` is the memory of no rank but the
// first.
void SumInRankOrder(absl::Span<const absl::Span<const float>> ranks,
                    absl::Span<float> sum);

// Divides each value by the float nearest to `examples`. REQUIRES: examples is
// not 0.
void DivideByExamples(uint64_t examples, absl::Span<float> values);

// True if the gradient of the dense variables of this model, or of the rows of
// its table number `table`, is divided by the examples of the step. The
// gradient of the linear probe is a sum that is never divided
// (ModelSpec::divides_gradient), and that of the canaries is one count a batch.
bool DividesDense(const ModelSpec& model);
bool DividesRows(const ModelSpec& model, size_t table);

}  // namespace shoal

#endif  // SHOAL_CORE_GRADIENT_SUM_H_
