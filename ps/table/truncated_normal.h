#ifndef SHOAL_PS_TABLE_TRUNCATED_NORMAL_H_
#define SHOAL_PS_TABLE_TRUNCATED_NORMAL_H_

#include <cstddef>

#include "absl/numeric/int128.h"
#include "absl/types/span.h"
#include "base/philox.h"

namespace shoal {

// Values of the normal distribution of mean 0 and standard deviation 1,
// truncated at ±2, by rejection (von Neumann). Attempt a on element i takes two
// words of Philox:
//   (u, t) = words 2 (i mod 2) and 2 (i mod 2) + 1 of the block at counter
//            (a, i ÷ 2), whose bits above 2^64 are added to those of a
//   z = 4 UniformFloat(u) − 2, accepted if t + ½ < 2^32 exp(−z² / 2)
// So a value is a function of only the key and the element. Pure.

// Overwrites out[j] with the value of element first + j.
void FillTruncatedNormal(const Philox& philox, absl::uint128 first,
                         absl::Span<float> out);

}  // namespace shoal

#endif  // SHOAL_PS_TABLE_TRUNCATED_NORMAL_H_
