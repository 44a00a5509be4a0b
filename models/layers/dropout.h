#ifndef SHOAL_MODELS_LAYERS_DROPOUT_H_
#define SHOAL_MODELS_LAYERS_DROPOUT_H_

#include <cstdint>

#include "absl/types/span.h"
#include "base/aligned_buffer.h"
#include "core/ids.h"
#include "models/backend/backend.h"

namespace shoal {

// mask (examples × units, overwritten): 1 with chance `keep`, else 0. The bit
// of (position in the batch, unit) is a function of only these two and (seed,
// batch, layer). It does not depend on which worker computes it, when, or
// together with which other examples:
//   key  = first 64 bits of Philox(seed ^ tag)(epoch, piece; index, layer)
//   word = Philox(key)(position; unit / 8), its 16 bits number unit % 8
// and the unit is kept if these 16 bits are below keep · 2^16, rounded.
// `first_position` is the position of the first example in the batch, so that a
// part of a batch gets its own rows of the mask.
void DropoutMask(uint64_t seed, const BatchId& batch, int layer, float keep,
                 int first_position, int units, absl::Span<uint8_t> mask);

// Inverted dropout (Srivastava et al., JMLR 2014): a unit is kept with chance
// `keep` and then scaled by 1 / keep, so that inference changes nothing. With
// keep 1 both passes do nothing. Thread-compatible.
class DropoutLayer {
 public:
  // `keep` is in (0, 1]. `backend` must outlive the layer.
  DropoutLayer(uint64_t seed, int layer, float keep, Backend* backend);

  // y: examples × units, changed in place. `first_position` is the position of
  // the first example in the batch.
  void Forward(const BatchId& batch, int first_position, int units,
               absl::Span<float> y);

  // Call it after Forward. d_y, the gradient of Forward's result, is changed in
  // place.
  void Backward(absl::Span<float> d_y);

 private:
  const uint64_t seed_;
  const int layer_;
  const float keep_;
  Backend* const backend_;
  AlignedBuffer<uint8_t> mask_;
};

}  // namespace shoal

#endif  // SHOAL_MODELS_LAYERS_DROPOUT_H_
