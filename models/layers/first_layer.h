#ifndef SHOAL_MODELS_LAYERS_FIRST_LAYER_H_
#define SHOAL_MODELS_LAYERS_FIRST_LAYER_H_

namespace shoal {

// The method by which the first layer over embeddings is computed. kDense: with
// products over every occurrence of an embedding (DenseLayer). kDistinct: with
// products over the distinct embeddings (DistinctDenseLayer). kAuto: the form
// that costs less. The results are equal except for rounding.
enum class FirstLayer { kAuto, kDense, kDistinct };

}  // namespace shoal

#endif  // SHOAL_MODELS_LAYERS_FIRST_LAYER_H_
