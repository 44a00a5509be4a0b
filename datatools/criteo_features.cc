#include "datatools/criteo_features.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/record_framing.h"
#include "datatools/tfrecord_writer.h"
#include "worker/data/parse_number.h"

namespace shoal {
namespace {

constexpr size_t kMaxCategories = size_t{1} << 31;

bool IsCategory(absl::string_view value) {
  return !value.empty() && value.size() <= kMaxCriteoValueBytes &&
         std::all_of(value.begin(), value.end(),
                     [](char c) { return c >= ' ' && c <= '~'; });
}

// An integer's value as text: six decimals, rounded from the double as
// Python's "{:.6f}" does, without zeros at the end.
class ValueText {
 public:
  ValueText(const CriteoFacts::Range& range, bool given, int64_t x) {
    double value = 0;
    if (given && range.max != range.min) {
      value = (static_cast<double>(x) - static_cast<double>(range.min)) /
              static_cast<double>(range.max - range.min);
    }
    char* end = std::to_chars(buffer_, buffer_ + sizeof(buffer_), value,
                              std::chars_format::fixed, 6)
                    .ptr;
    while (end[-1] == '0') --end;
    if (end[-1] == '.') --end;
    size_ = end - buffer_;
  }

  absl::string_view text() const { return {buffer_, size_}; }
  float number() const {
    float value = 0;
    ParseFloat(buffer_, buffer_ + size_, &value);
    return value;
  }

 private:
  char buffer_[40];  // of up to 2e18, with sign, point and decimals
  size_t size_ = 0;
};

}  // namespace

absl::StatusOr<CriteoFeatures> CriteoFeatures::Make(CriteoFacts facts) {
  CriteoFeatures features;
  constexpr int64_t kMost = 1'000'000'000'000'000'000;  // 18 digits and more
  for (int i = 0; i < kCriteoIntegers; ++i) {
    const CriteoFacts::Range& range = facts.integers[i];
    if (range.min > range.max || range.min < -kMost || range.max > kMost) {
      return absl::InvalidArgumentError(absl::StrCat(
          "I", i + 1, ": the range from ", range.min, " to ", range.max,
          " is not valid"));
    }
  }
  features.offsets_[0] = kCriteoIntegers;
  for (int c = 0; c < kCriteoCategories; ++c) {
    const std::vector<CriteoFacts::Category>& values = facts.categories[c];
    if (values.size() >= kMaxCategories) {
      return absl::InvalidArgumentError(absl::StrCat(
          "C", c + 1, " has ", values.size(), " categories; at most 2^31 - 1"));
    }
    for (size_t i = 0; i < values.size(); ++i) {
      if (!IsCategory(values[i].value)) {
        return absl::InvalidArgumentError(absl::StrCat(
            "C", c + 1, ": '", absl::CHexEscape(values[i].value.substr(0, 80)),
            "' is not a category"));
      }
      uint32_t& rank = features.ranks_[c][values[i].value];
      if (rank != 0) {
        return absl::InvalidArgumentError(absl::StrCat(
            "C", c + 1, ": '", values[i].value, "' is there twice"));
      }
      rank = static_cast<uint32_t>(i + 1);
    }
    features.offsets_[c + 1] = features.offsets_[c] + 1 + values.size();
  }
  features.facts_ = std::move(facts);
  return features;
}

FeatureId CriteoFeatures::CategoryId(int column,
                                     absl::string_view category) const {
  if (category.empty()) return offsets_[column];
  const uint32_t* rank = ranks_[column].Find(category);
  return offsets_[column] + (rank == nullptr ? 0 : *rank);
}

void CriteoFeatures::AppendLibSvm(const CriteoRow& row,
                                  std::string* text) const {
  if (row.labelled) text->append(row.label == 1 ? "1 " : "0 ");
  for (int i = 0; i < kCriteoIntegers; ++i) {
    const ValueText value(facts_.integers[i], row.has_integer(i),
                          row.integers[i]);
    absl::StrAppend(text, i == 0 ? "" : " ", i + 1, ":", value.text());
  }
  for (int c = 0; c < kCriteoCategories; ++c) {
    absl::StrAppend(text, " ", CategoryId(c, row.categories[c]), ":1");
  }
  text->push_back('\n');
}

void CriteoFeatures::AppendTfRecord(const CriteoRow& row,
                                    std::string* records) const {
  std::array<FeatureId, kCriteoFields> ids;
  std::array<float, kCriteoFields> values;
  values.fill(1);
  for (int i = 0; i < kCriteoIntegers; ++i) {
    ids[i] = i + 1;
    values[i] =
        ValueText(facts_.integers[i], row.has_integer(i), row.integers[i])
            .number();
  }
  for (int c = 0; c < kCriteoCategories; ++c) {
    ids[kCriteoIntegers + c] = CategoryId(c, row.categories[c]);
  }
  std::string payload;
  AppendTfExample(row.labelled ? std::optional(row.label) : std::nullopt, ids,
                  values, &payload);
  AppendRecord(payload, records);
}

}  // namespace shoal
