#ifndef SHOAL_WORKER_DATA_BATCH_H_
#define SHOAL_WORKER_DATA_BATCH_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/ids.h"

namespace shoal {

// Parsed examples, ragged: example i has the features [offsets[i],
// offsets[i + 1]) of ids and values, in the order of its line; the j-th is
// field j. Thread-compatible.
struct ExampleBatch {
  // 0 or 1, or kBadRowLabel (core/session_messages.h).
  std::vector<uint8_t> labels;
  std::vector<uint32_t> offsets = {0};
  std::vector<FeatureId> ids;
  std::vector<float> values;

  // Bytes of an example of so many features.
  static constexpr uint64_t BytesOfExample(uint64_t features) {
    return features * (sizeof(FeatureId) + sizeof(float)) + sizeof(uint32_t) +
           sizeof(uint8_t);
  }

  size_t size() const { return labels.size(); }
  void Clear() {
    labels.clear();
    offsets.assign(1, 0);
    ids.clear();
    values.clear();
  }
};

// One batch of a piece: a function of (seed, epoch, piece), whoever reads it.
struct Batch {
  BatchId id;
  ExampleBatch examples;
};

}  // namespace shoal

#endif  // SHOAL_WORKER_DATA_BATCH_H_
