#ifndef SHOAL_MODELS_LAYERS_FIRST_LAYER_H_
#define SHOAL_MODELS_LAYERS_FIRST_LAYER_H_

namespace shoal {

// How the first layer over embeddings is computed: with a product over every
// occurrence of an embedding (DenseLayer), or over the distinct ones
// (DistinctDenseLayer); auto takes what costs less. Equal but for rounding.
enum class FirstLayer { kAuto, kDense, kDistinct };

}  // namespace shoal

#endif  // SHOAL_MODELS_LAYERS_FIRST_LAYER_H_
