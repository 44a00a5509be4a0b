#ifndef SHOAL_DATATOOLS_TFRECORD_WRITER_H_
#define SHOAL_DATATOOLS_TFRECORD_WRITER_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/types/span.h"
#include "core/ids.h"

namespace shoal {

// Encodes tf.Example by hand (docs/data_formats.md). base/record_framing.h
// makes TFRecord records from the examples.

// Appends a tf.Example with the features label (one float), ids (int64) and
// values (float), in this order and packed, as the reference pipeline writes
// them. Ids of 2^63 and more become negative int64 of the same bits. The same
// example gives the same bytes everywhere. Without a label the feature label is
// left out. REQUIRES: as many ids as values.
void AppendTfExample(std::optional<uint8_t> label,
                     absl::Span<const FeatureId> ids,
                     absl::Span<const float> values, std::string* payload);

}  // namespace shoal

#endif  // SHOAL_DATATOOLS_TFRECORD_WRITER_H_
