#ifndef SHOAL_MODELS_BACKEND_VECTOR_BAG_H_
#define SHOAL_MODELS_BACKEND_VECTOR_BAG_H_

#include "absl/types/span.h"
#include "models/backend/backend.h"

namespace shoal {

// Backend::BagSum computed in vectors; see vector_passes.h. Pure.
void VectorBagSum(const BagInput& bags, absl::Span<const float> rows,
                  absl::Span<float> sums);

}  // namespace shoal

#endif  // SHOAL_MODELS_BACKEND_VECTOR_BAG_H_
