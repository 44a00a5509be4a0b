#ifndef SHOAL_MODELS_LAYERS_PART_DONE_H_
#define SHOAL_MODELS_LAYERS_PART_DONE_H_

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"

namespace shoal {

// A layer's backward pass calls this function, on its own thread, with a part
// of the gradients of the layer's variables as soon as the part holds the sum
// over all examples so far. Nothing later in the pass of these examples changes
// the part. The parts of a pass are disjoint, and together they are d_weights
// and d_biases.
using PartDone = absl::FunctionRef<void(absl::Span<const float> part)>;

// For callers that need not know.
inline void IgnorePart(absl::Span<const float>) {}

}  // namespace shoal

#endif  // SHOAL_MODELS_LAYERS_PART_DONE_H_
