#include "worker/data/row_window.h"

#include "absl/strings/string_view.h"
#include "base/crc32c.h"

namespace shoal {
namespace {

template <typename T>
uint32_t Extend(uint32_t crc, const std::vector<T>& values) {
  return Crc32cExtend(
      crc, absl::string_view(reinterpret_cast<const char*>(values.data()),
                             values.size() * sizeof(T)));
}

}  // namespace

void AppendRow(const ExampleBatch& from, uint32_t row, ExampleBatch* to) {
  const uint32_t begin = from.offsets[row];
  const uint32_t end = from.offsets[row + 1];
  to->labels.push_back(from.labels[row]);
  to->ids.insert(to->ids.end(), from.ids.begin() + begin,
                 from.ids.begin() + end);
  to->values.insert(to->values.end(), from.values.begin() + begin,
                    from.values.begin() + end);
  if (!from.fields.empty()) {
    to->fields.insert(to->fields.end(), from.fields.begin() + begin,
                      from.fields.begin() + end);
  }
  to->offsets.push_back(static_cast<uint32_t>(to->ids.size()));
}

void PrefetchRow(const ExampleBatch& from, uint32_t row) {
  constexpr uint32_t kLineBytes = 64;
  const uint32_t begin = from.offsets[row];
  const uint32_t end = from.offsets[row + 1];
  for (uint32_t i = begin; i < end; i += kLineBytes / sizeof(FeatureId)) {
    __builtin_prefetch(&from.ids[i]);
  }
  for (uint32_t i = begin; i < end; i += kLineBytes / sizeof(float)) {
    __builtin_prefetch(&from.values[i]);
  }
}

void AppendRange(const ExampleBatch& from, size_t begin, size_t end,
                 ExampleBatch* to) {
  const uint32_t first = from.offsets[begin];
  const uint32_t last = from.offsets[end];
  // Modulo 2^32: a shift that wraps is undone by the sums below.
  const uint32_t shift = to->offsets.back() - first;
  to->labels.insert(to->labels.end(), from.labels.begin() + begin,
                    from.labels.begin() + end);
  to->ids.insert(to->ids.end(), from.ids.begin() + first,
                 from.ids.begin() + last);
  to->values.insert(to->values.end(), from.values.begin() + first,
                    from.values.begin() + last);
  if (!from.fields.empty()) {
    to->fields.insert(to->fields.end(), from.fields.begin() + first,
                      from.fields.begin() + last);
  }
  for (size_t i = begin + 1; i <= end; ++i) {
    to->offsets.push_back(shift + from.offsets[i]);
  }
}

uint32_t RowsCrc32c(const ExampleBatch& rows) {
  const uint32_t features = Extend(Extend(0, rows.ids), rows.values);
  return Extend(Extend(Extend(features, rows.offsets), rows.labels),
                rows.fields);
}

}  // namespace shoal
