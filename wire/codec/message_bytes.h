#ifndef SHOAL_WIRE_CODEC_MESSAGE_BYTES_H_
#define SHOAL_WIRE_CODEC_MESSAGE_BYTES_H_

#include <cstdint>

#include "base/saturating.h"
#include "core/ids.h"

namespace shoal {

// Approximate bytes of one batch's pull, or push, over all shards: the distinct
// ids, the floats of their rows, and the elements of all dense variables.
inline uint64_t BatchMessageBytes(uint64_t distinct_ids, uint64_t row_floats,
                                  uint64_t dense_floats) {
  const uint64_t row = sizeof(FeatureId) + sizeof(float) * row_floats;
  return SaturatingAdd(SaturatingTimes(distinct_ids, row),
                       sizeof(float) * dense_floats);
}

}  // namespace shoal

#endif  // SHOAL_WIRE_CODEC_MESSAGE_BYTES_H_
