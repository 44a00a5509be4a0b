#ifndef SHOAL_PS_TABLE_INITIAL_VALUE_H_
#define SHOAL_PS_TABLE_INITIAL_VALUE_H_

#include <cstdint>

#include "absl/numeric/int128.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/model_spec.h"

namespace shoal {

// The initial value of element e of a variable is a function of (seed,
// variable's name, e), never of the order of arrival, the shard, or the
// element's neighbours. In a table's column, e = id * dim + k for element k of
// row `id`; elements of dense variables are counted in row-major order. The
// values must never change, because half-trained models depend on them; golden
// tests check them.
//
// With u = Philox(key)(attempt, block), key = InitialValueKey:
//   uniform: x = scale * (2 * UniformFloat(word e % 4 of (0, e / 4)) - 1)
//   truncated normal: a candidate z = 4 * UniformFloat(a) - 2, uniform on
//     [-2, 2), is accepted if b + 1/2 < 2^32 * exp(-z^2 / 2), where a and b are
//     words 2 * (e % 2) and the one after it of (attempt, e / 2); otherwise the
//     next attempt. x = scale * z.
// The truncated normal is the distribution of a normal number that is drawn
// again if it is beyond two standard deviations. No library function enters the
// value itself, so that every host computes the same bits.
//
// Ids are any 64-bit numbers, so e is a 128-bit number: the part of a block's
// number above 2^64, times 2^32, is added to `attempt`.

// The generator's key for one variable.
uint64_t InitialValueKey(uint64_t seed, absl::string_view variable);

// Overwrites `out` with the values of elements [first, first + out.size()).
void FillInitialValues(const InitializerSpec& spec, uint64_t key,
                       absl::uint128 first, absl::Span<float> out);

}  // namespace shoal

#endif  // SHOAL_PS_TABLE_INITIAL_VALUE_H_
