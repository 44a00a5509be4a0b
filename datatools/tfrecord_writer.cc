#include "datatools/tfrecord_writer.h"

#include <bit>

#include "absl/strings/string_view.h"
#include "base/check.h"
#include "base/protobuf_wire.h"

namespace shoal {
namespace {

static_assert(std::endian::native == std::endian::little,
              "numbers are written as they are in memory");

// Field numbers of tf.Example, of the map entries in its Features, and of
// Feature; all of them length-delimited. A list's values are field 1.
constexpr int kExampleFeatures = 1;
constexpr int kFeaturesEntry = 1;
constexpr int kEntryKey = 1;
constexpr int kEntryFeature = 2;
constexpr int kFeatureFloats = 2;
constexpr int kFeatureInt64s = 3;
constexpr int kListValues = 1;

// Size of the map entry of a feature whose packed list has `bytes` bytes.
size_t EntryBytes(absl::string_view key, size_t list_bytes) {
  return FieldBytes(key.size()) +
         FieldBytes(FieldBytes(FieldBytes(list_bytes)));
}

// Appends the entry up to its packed values.
void AppendEntryHead(absl::string_view key, int kind, size_t list_bytes,
                     std::string* out) {
  AppendFieldHead(kFeaturesEntry, EntryBytes(key, list_bytes), out);
  AppendFieldHead(kEntryKey, key.size(), out);
  out->append(key.data(), key.size());
  AppendFieldHead(kEntryFeature, FieldBytes(FieldBytes(list_bytes)), out);
  AppendFieldHead(kind, FieldBytes(list_bytes), out);
  AppendFieldHead(kListValues, list_bytes, out);
}

void AppendFloats(absl::Span<const float> values, std::string* out) {
  out->append(reinterpret_cast<const char*>(values.data()),
              values.size() * sizeof(float));
}

}  // namespace

void AppendTfExample(std::optional<uint8_t> label,
                     absl::Span<const FeatureId> ids,
                     absl::Span<const float> values, std::string* payload) {
  SHOAL_DCHECK(ids.size() == values.size());
  size_t id_bytes = 0;
  for (const FeatureId id : ids) id_bytes += VarintBytes(id);
  const size_t value_bytes = values.size() * sizeof(float);

  AppendFieldHead(kExampleFeatures,
                  (label.has_value()
                       ? FieldBytes(EntryBytes("label", sizeof(float)))
                       : 0) +
                      FieldBytes(EntryBytes("ids", id_bytes)) +
                      FieldBytes(EntryBytes("values", value_bytes)),
                  payload);
  if (label.has_value()) {
    const float label_value = *label;
    AppendEntryHead("label", kFeatureFloats, sizeof(float), payload);
    AppendFloats({&label_value, 1}, payload);
  }
  AppendEntryHead("ids", kFeatureInt64s, id_bytes, payload);
  for (const FeatureId id : ids) AppendVarint(id, payload);
  AppendEntryHead("values", kFeatureFloats, value_bytes, payload);
  AppendFloats(values, payload);
}

}  // namespace shoal
