#include "worker/data/tf_example_parser.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace shoal {
namespace {

static_assert(std::endian::native == std::endian::little,
              "floats are copied as they lie in the message");

// Wire types of protobuf.
constexpr uint32_t kVarint = 0;
constexpr uint32_t kFixed64 = 1;
constexpr uint32_t kLength = 2;
constexpr uint32_t kFixed32 = 5;

// Field numbers of tf.Example, Features, their map's entries, and Feature.
constexpr uint32_t kExampleFeatures = 1;
constexpr uint32_t kFeaturesEntry = 1;
constexpr uint32_t kEntryKey = 1;
constexpr uint32_t kEntryValue = 2;
constexpr uint32_t kFeatureBytes = 1;
constexpr uint32_t kFeatureFloats = 2;
constexpr uint32_t kFeatureInts = 3;
constexpr uint32_t kListValue = 1;

constexpr uint32_t kInfinity = 0x7f800000;  // the exponent bits of a float

}  // namespace

TfExampleParser::TfExampleParser(uint64_t feature_size, int field_size,
                                 bool any_label, int num_labels)
    : feature_size_(feature_size),
      field_size_(field_size),
      any_label_(any_label),
      labels_(num_labels) {
  label_.floats.numbers.resize(1);
  label_.ints.numbers.resize(1);
  ids_.ints.numbers.resize(field_size_);
  values_.floats.numbers.resize(field_size_);
}

TfExampleParser::Result TfExampleParser::Parse(absl::string_view record,
                                               ExampleBatch* out,
                                               std::string* reason) {
  label_.Clear();
  ids_.Clear();
  values_.Clear();
  Bytes in;
  in.p = reinterpret_cast<const uint8_t*>(record.data());
  in.end = in.p + record.size();
  while (in.p != in.end) {
    uint32_t field = 0;
    uint32_t type = 0;
    Bytes features;
    bool good = Tag(&in, &field, &type);
    if (good && field == kExampleFeatures && type == kLength) {
      good = Delimited(&in, &features) && ParseFeatures(features);
    } else if (good) {
      good = Skip(&in, type);
    }
    if (!good) {
      *reason = "not a tf.Example message";
      return Result::kBad;
    }
  }
  uint8_t label = 0;
  const bool labelled = CheckLabel(&label, reason);
  if (!labelled) label = 0;
  if ((!labelled && !any_label_) || !CheckIds(reason) || !CheckValues(reason)) {
    return Result::kBad;
  }
  const size_t count = ids_.ints.count;
  const auto ids = ids_.ints.numbers.begin();
  const auto values = values_.floats.numbers.begin();
  out->labels.push_back(label);
  if (label_.kind == Kind::kNone) ++out->unlabelled;
  out->ids.insert(out->ids.end(), ids, ids + count);
  if (values_.kind == Kind::kNone) {
    out->values.resize(out->ids.size(), 1.0f);
  } else {
    out->values.insert(out->values.end(), values, values + count);
  }
  out->offsets.push_back(static_cast<uint32_t>(out->ids.size()));
  return Result::kRow;
}

bool TfExampleParser::CheckLabel(uint8_t* label, std::string* reason) const {
  size_t count = 0;
  bool known = false;
  if (label_.kind == Kind::kFloats) {
    count = label_.floats.count;
    const float number = label_.floats.numbers[0];
    known = labels_.Find(number, label);
  } else if (label_.kind == Kind::kInts) {
    count = label_.ints.count;
    const auto number = static_cast<int64_t>(label_.ints.numbers[0]);
    known = labels_.Find(number, label);
  } else {
    *reason = label_.kind == Kind::kNone
                  ? "the label is missing: no feature 'label' (shoal infer "
                    "takes such rows)"
                  : "feature 'label' is neither float nor int64";
    return false;
  }
  if (count != 1) {
    *reason = absl::StrCat("feature 'label' has ", count, " values, not 1");
    return false;
  }
  if (!known) {
    *reason = absl::StrCat(
        "label ",
        label_.kind == Kind::kFloats
            ? absl::StrCat(label_.floats.numbers[0])
            : absl::StrCat(static_cast<int64_t>(label_.ints.numbers[0])),
        " ", labels_.Refusal());
  }
  return known;
}

bool TfExampleParser::CheckIds(std::string* reason) const {
  if (ids_.kind != Kind::kInts) {
    *reason = ids_.kind == Kind::kNone ? "no feature 'ids'"
                                       : "feature 'ids' is not int64";
    return false;
  }
  const size_t count = ids_.ints.count;
  if (count > field_size_) {
    *reason = absl::StrCat("more than ", field_size_,
                           " features (--field_size): ", count);
    return false;
  }
  if (feature_size_ == 0) return true;
  const auto begin = ids_.ints.numbers.begin();
  const auto bad = std::find_if(begin, begin + count, [this](uint64_t id) {
    return id >= feature_size_;
  });
  if (bad == begin + count) return true;
  *reason = absl::StrCat("id ", static_cast<int64_t>(*bad), " is not in [0, ",
                         feature_size_, ") (--feature_size)");
  return false;
}

bool TfExampleParser::CheckValues(std::string* reason) const {
  if (values_.kind == Kind::kNone) return true;
  if (values_.kind != Kind::kFloats) {
    *reason = "feature 'values' is not float";
    return false;
  }
  const size_t count = values_.floats.count;
  if (count != ids_.ints.count) {
    *reason = absl::StrCat("feature 'values' has ", count, " values for ",
                           ids_.ints.count, " ids");
    return false;
  }
  const float* const values = values_.floats.numbers.data();
  uint32_t bad = 0;
  for (size_t i = 0; i < count; ++i) {
    bad |= (std::bit_cast<uint32_t>(values[i]) & kInfinity) == kInfinity;
  }
  if (bad == 0) return true;
  const float* const first = std::find_if(
      values, values + count, [](float v) { return !std::isfinite(v); });
  *reason = absl::StrCat("value ", first - values, ", of id ",
                         ids_.ints.numbers[first - values],
                         ", is not a finite number");
  return false;
}

bool TfExampleParser::Varint(Bytes* in, uint64_t* value) {
  uint64_t result = 0;
  for (int shift = 0; shift < 70; shift += 7) {
    if (in->p == in->end) return false;
    const uint8_t byte = *in->p++;
    // Bits beyond the 64th are dropped, as protobuf does.
    result |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) {
      *value = result;
      return true;
    }
  }
  return false;
}

bool TfExampleParser::Tag(Bytes* in, uint32_t* field, uint32_t* type) {
  uint64_t tag = 0;
  if (!Varint(in, &tag) || tag > 0xffffffff) return false;
  *field = static_cast<uint32_t>(tag >> 3);
  *type = static_cast<uint32_t>(tag & 7);
  return *field != 0;
}

bool TfExampleParser::Delimited(Bytes* in, Bytes* inner) {
  uint64_t length = 0;
  if (!Varint(in, &length)) return false;
  if (length > static_cast<uint64_t>(in->end - in->p)) return false;
  inner->p = in->p;
  in->p += length;
  inner->end = in->p;
  return true;
}

bool TfExampleParser::Skip(Bytes* in, uint32_t type) {
  uint64_t value = 0;
  Bytes inner;
  size_t size = 0;
  switch (type) {
    case kVarint:
      return Varint(in, &value);
    case kLength:
      return Delimited(in, &inner);
    case kFixed64:
      size = 8;
      break;
    case kFixed32:
      size = 4;
      break;
    default:
      return false;  // groups, which tf.Example never has
  }
  if (static_cast<size_t>(in->end - in->p) < size) return false;
  in->p += size;
  return true;
}

bool TfExampleParser::ParseFeatures(Bytes in) {
  while (in.p != in.end) {
    uint32_t field = 0;
    uint32_t type = 0;
    Bytes entry;
    if (!Tag(&in, &field, &type)) return false;
    if (field == kFeaturesEntry && type == kLength) {
      if (!Delimited(&in, &entry) || !ParseEntry(entry)) return false;
    } else if (!Skip(&in, type)) {
      return false;
    }
  }
  return true;
}

bool TfExampleParser::ParseEntry(Bytes in) {
  // The key may come after the value, so two passes are needed.
  Bytes key;
  for (Bytes rest = in; rest.p != rest.end;) {
    uint32_t field = 0;
    uint32_t type = 0;
    if (!Tag(&rest, &field, &type)) return false;
    if (field == kEntryKey && type == kLength) {
      if (!Delimited(&rest, &key)) return false;
    } else if (!Skip(&rest, type)) {
      return false;
    }
  }
  Feature* const feature = Named(key);
  if (feature == nullptr) return true;
  feature->Clear();
  while (in.p != in.end) {
    uint32_t field = 0;
    uint32_t type = 0;
    Bytes value;
    if (!Tag(&in, &field, &type)) return false;
    if (field == kEntryValue && type == kLength) {
      if (!Delimited(&in, &value) || !ParseFeature(value, feature)) {
        return false;
      }
    } else if (!Skip(&in, type)) {
      return false;
    }
  }
  return true;
}

TfExampleParser::Feature* TfExampleParser::Named(Bytes key) {
  const absl::string_view name(reinterpret_cast<const char*>(key.p),
                               key.end - key.p);
  if (name == "ids") return &ids_;
  if (name == "values") return &values_;
  if (name == "label") return &label_;
  return nullptr;
}

bool TfExampleParser::ParseFeature(Bytes in, Feature* feature) {
  while (in.p != in.end) {
    uint32_t field = 0;
    uint32_t type = 0;
    if (!Tag(&in, &field, &type)) return false;
    Kind kind = Kind::kNone;
    if (type == kLength) {
      kind = field == kFeatureBytes    ? Kind::kBytes
             : field == kFeatureFloats ? Kind::kFloats
             : field == kFeatureInts   ? Kind::kInts
                                       : Kind::kNone;
    }
    if (kind == Kind::kNone) {
      if (!Skip(&in, type)) return false;
      continue;
    }
    // A list of another kind replaces the list before it; a list of the same
    // kind extends it.
    if (kind != feature->kind) feature->Clear();
    feature->kind = kind;
    Bytes list;
    if (!Delimited(&in, &list)) return false;
    if (kind == Kind::kFloats && !ParseFloats(list, &feature->floats)) {
      return false;
    }
    if (kind == Kind::kInts && !ParseInts(list, &feature->ints)) return false;
  }
  return true;
}

bool TfExampleParser::ParseFloats(Bytes in, List<float>* list) {
  const size_t most = list->numbers.size();
  while (in.p != in.end) {
    uint32_t field = 0;
    uint32_t type = 0;
    if (!Tag(&in, &field, &type)) return false;
    Bytes floats;
    if (field == kListValue && type == kLength) {
      if (!Delimited(&in, &floats)) return false;
    } else {
      floats.p = in.p;
      if (!Skip(&in, type)) return false;
      if (field != kListValue || type != kFixed32) continue;
      floats.end = in.p;
    }
    const size_t bytes = floats.end - floats.p;
    if (bytes % sizeof(float) != 0) return false;
    const size_t numbers = bytes / sizeof(float);
    if (list->count < most) {
      const size_t kept = std::min(numbers, most - list->count);
      std::memcpy(list->numbers.data() + list->count, floats.p,
                  kept * sizeof(float));
    }
    list->count += numbers;
  }
  return true;
}

bool TfExampleParser::ParseInts(Bytes in, List<uint64_t>* list) {
  const size_t most = list->numbers.size();
  uint64_t* const numbers = list->numbers.data();
  while (in.p != in.end) {
    uint32_t field = 0;
    uint32_t type = 0;
    if (!Tag(&in, &field, &type)) return false;
    Bytes ints;
    if (field == kListValue && type == kLength) {
      if (!Delimited(&in, &ints)) return false;
    } else {
      ints.p = in.p;
      if (!Skip(&in, type)) return false;
      if (field != kListValue || type != kVarint) continue;
      ints.end = in.p;
    }
    size_t count = list->count;
    while (ints.p != ints.end) {
      uint64_t number = 0;
      if (!Varint(&ints, &number)) return false;
      if (count < most) numbers[count] = number;
      ++count;
    }
    list->count = count;
  }
  return true;
}

}  // namespace shoal
