#include "worker/train/gradient_check.h"

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "absl/types/span.h"
#include "base/check.h"
#include "core/sound_gradient.h"

namespace shoal {
namespace {

double SumOfSquares(absl::Span<const float> values) {
  // Several sums in parallel, in a fixed order, so that the loop is not one
  // chain of additions.
  constexpr size_t kLanes = 8;
  double lanes[kLanes] = {};
  size_t i = 0;
  for (; i + kLanes <= values.size(); i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) {
      const double value = values[i + lane];
      lanes[lane] += value * value;
    }
  }
  double sum = 0;
  for (; i < values.size(); ++i) sum += double{values[i]} * double{values[i]};
  for (const double lane : lanes) sum += lane;
  return sum;
}

void Scale(float scale, absl::Span<float> values) {
  for (float& value : values) value *= scale;
}

}  // namespace

double GradientNorm(const StepParameters& parameters) {
  double squares = SumOfSquares(parameters.d_dense.span());
  for (const TableParameters& table : parameters.tables) {
    const size_t rows = table.split.position.size();
    SHOAL_DCHECK(rows == 0 || table.d_rows.size() % rows == 0);
    const size_t dim = rows == 0 ? 0 : table.d_rows.size() / rows;
    for (const uint32_t position : table.split.position) {
      squares += SumOfSquares(table.d_rows.span().subspan(
          static_cast<size_t>(position) * dim, dim));
    }
  }
  return std::sqrt(squares);
}

void CheckGradient(double loss_sum, double clip_norm,
                   StepParameters* parameters) {
  parameters->rejected =
      !std::isfinite(loss_sum) || !IsSound(parameters->d_dense.span());
  for (const TableParameters& table : parameters->tables) {
    parameters->rejected |= !IsSound(table.d_rows.span());
  }
  if (parameters->rejected || clip_norm <= 0) return;
  const double norm = GradientNorm(*parameters);
  if (norm <= clip_norm) return;
  const auto scale = static_cast<float>(clip_norm / norm);
  Scale(scale, parameters->d_dense.span());
  for (TableParameters& table : parameters->tables) {
    Scale(scale, table.d_rows.span());
  }
}

}  // namespace shoal
