// Payloads of TFRecord: any bytes are a row or a bad one with a reason.

#include <cmath>
#include <cstdlib>
#include <string>

#include "worker/data/tf_example_parser.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view record(reinterpret_cast<const char*>(data), size);
  for (const uint64_t feature_size : {0, 1000}) {
    shoal::TfExampleParser parser(feature_size, /*field_size=*/5);
    shoal::ExampleBatch rows;
    std::string reason;
    const auto result = parser.Parse(record, &rows, &reason);
    if (result == shoal::RecordParser::Result::kRow) {
      if (rows.size() != 1 || rows.ids.size() > 5 || rows.labels[0] > 1 ||
          rows.values.size() != rows.ids.size() ||
          rows.offsets.back() != rows.ids.size()) {
        std::abort();
      }
      for (const uint64_t id : rows.ids) {
        if (feature_size != 0 && id >= feature_size) std::abort();
      }
      for (const float value : rows.values) {
        if (!std::isfinite(value)) std::abort();
      }
    } else if (rows.size() != 0 || !rows.ids.empty() || reason.empty()) {
      std::abort();
    }
    for (const char c : reason) {
      if (c < ' ' || c > '~') std::abort();
    }
  }
  return 0;
}
