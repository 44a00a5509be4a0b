#ifndef SHOAL_CORE_FIRST_LAYER_H_
#define SHOAL_CORE_FIRST_LAYER_H_

#include "core/choice.h"

namespace shoal {

// The method by which the first layer over embeddings is computed. kDense: with
// products over every occurrence of an embedding (DenseLayer). kDistinct: with
// products over the distinct embeddings (DistinctDenseLayer). kAuto: the form
// that costs less. The results are equal except for rounding.
enum class FirstLayer { kAuto, kDense, kDistinct };

// The values of --first_layer.
inline constexpr Choice<FirstLayer> kFirstLayers[] = {
    {FirstLayer::kAuto, "auto",
     "takes the method with the lower estimated cost"},
    {FirstLayer::kDense, "dense",
     "multiplies every occurrence of an embedding"},
    {FirstLayer::kDistinct, "distinct",
     "multiplies each distinct embedding of a batch once"}};

}  // namespace shoal

#endif  // SHOAL_CORE_FIRST_LAYER_H_
