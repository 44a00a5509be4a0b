#ifndef SHOAL_WORKER_DATA_BATCH_H_
#define SHOAL_WORKER_DATA_BATCH_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/ids.h"

namespace shoal {

// Parsed examples in a ragged layout: example i has the features [offsets[i],
// offsets[i + 1]) of ids and values, in the order of its line. Its j-th feature
// is field j, or the field in `fields` if the format of the rows names fields.
// Thread-compatible.
struct ExampleBatch {
  // Labels of the model's objective, or BadRowLabel (core/label.h).
  std::vector<uint8_t> labels;
  std::vector<uint32_t> offsets = {0};
  std::vector<FeatureId> ids;
  std::vector<float> values;
  // Empty, or the field of each feature, all different in an example.
  std::vector<uint16_t> fields = {};
  // Examples without a label, whose label counts as 0. Parsers count them; a
  // batch of a piece does not carry the number.
  uint64_t unlabelled = 0;

  // The bytes of an example with `features` features, which name no fields.
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
    fields.clear();
    unlabelled = 0;
  }
};

// One batch of a piece. It is a function of (seed, epoch, piece) and does not
// depend on which worker reads it.
struct Batch {
  BatchId id;
  ExampleBatch examples;
};

}  // namespace shoal

#endif  // SHOAL_WORKER_DATA_BATCH_H_
