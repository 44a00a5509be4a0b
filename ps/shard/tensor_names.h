#ifndef SHOAL_PS_SHARD_TENSOR_NAMES_H_
#define SHOAL_PS_SHARD_TENSOR_NAMES_H_

#include <string>

#include "absl/strings/string_view.h"

namespace shoal {

// Names of a shard's tensors (docs/checkpoint_format.md). They never change.
// Weights have the variable's own name; ps/table/record_parts.h names the
// slots.

// I64 [rows]: the ids of a table's rows. Each element has the bits of a u64 id.
std::string IdsTensorName(absl::string_view table);
// F32 [floats]: a part of the shared row of a full dynamic table.
std::string SharedRowTensorName(absl::string_view part);

// I64 [runs, 5]: epoch, piece, first batch, end, verdict (core/mark_run.h).
inline constexpr char kMarksTensor[] = "shoal@marks";
// I64 scalars: the number of pushes applied; the number of pushes admitted,
// which is Adam's t; the largest colour of a push.
inline constexpr char kCountTensor[] = "shoal@count";
inline constexpr char kAdmittedTensor[] = "shoal@admitted";
inline constexpr char kColourTensor[] = "shoal@colour";

}  // namespace shoal

#endif  // SHOAL_PS_SHARD_TENSOR_NAMES_H_
