#include "worker/data/tfrecord_writer.h"

#include <bit>

#include "absl/strings/string_view.h"

namespace shoal {
namespace {

static_assert(std::endian::native == std::endian::little,
              "numbers are written as they lie in memory");

// Field numbers of tf.Example, of the map entries in its Features, and of
// Feature; all of them length-delimited. A list's values are field 1.
constexpr int kExampleFeatures = 1;
constexpr int kFeaturesEntry = 1;
constexpr int kEntryKey = 1;
constexpr int kEntryFeature = 2;
constexpr int kFeatureFloats = 2;
constexpr int kFeatureInt64s = 3;
constexpr int kListValues = 1;

size_t VarintBytes(uint64_t value) {
  return (static_cast<size_t>(std::bit_width(value | 1)) + 6) / 7;
}

void AppendVarint(uint64_t value, std::string* out) {
  for (; value >= 0x80; value >>= 7) {
    out->push_back(static_cast<char>(value | 0x80));
  }
  out->push_back(static_cast<char>(value));
}

// Tag and length of a field of so many bytes; fields are numbered below 16.
void AppendHead(int field, size_t bytes, std::string* out) {
  constexpr int kLengthDelimited = 2;
  out->push_back(static_cast<char>(field << 3 | kLengthDelimited));
  AppendVarint(bytes, out);
}

// Bytes of a field with so many in it.
size_t FieldBytes(size_t bytes) { return 1 + VarintBytes(bytes) + bytes; }

// Bytes of the map entry of a feature whose packed list has so many.
size_t EntryBytes(absl::string_view key, size_t list_bytes) {
  return FieldBytes(key.size()) +
         FieldBytes(FieldBytes(FieldBytes(list_bytes)));
}

// The entry up to its packed values.
void AppendEntryHead(absl::string_view key, int kind, size_t list_bytes,
                     std::string* out) {
  AppendHead(kFeaturesEntry, EntryBytes(key, list_bytes), out);
  AppendHead(kEntryKey, key.size(), out);
  out->append(key.data(), key.size());
  AppendHead(kEntryFeature, FieldBytes(FieldBytes(list_bytes)), out);
  AppendHead(kind, FieldBytes(list_bytes), out);
  AppendHead(kListValues, list_bytes, out);
}

void AppendFloats(absl::Span<const float> values, std::string* out) {
  out->append(reinterpret_cast<const char*>(values.data()),
              values.size() * sizeof(float));
}

}  // namespace

void AppendTfExample(uint8_t label, absl::Span<const FeatureId> ids,
                     absl::Span<const float> values, std::string* payload) {
  size_t id_bytes = 0;
  for (const FeatureId id : ids) id_bytes += VarintBytes(id);
  const float label_value = label;
  const size_t value_bytes = values.size() * sizeof(float);

  AppendHead(kExampleFeatures,
             FieldBytes(EntryBytes("label", sizeof(float))) +
                 FieldBytes(EntryBytes("ids", id_bytes)) +
                 FieldBytes(EntryBytes("values", value_bytes)),
             payload);
  AppendEntryHead("label", kFeatureFloats, sizeof(float), payload);
  AppendFloats({&label_value, 1}, payload);
  AppendEntryHead("ids", kFeatureInt64s, id_bytes, payload);
  for (const FeatureId id : ids) AppendVarint(id, payload);
  AppendEntryHead("values", kFeatureFloats, value_bytes, payload);
  AppendFloats(values, payload);
}

}  // namespace shoal
