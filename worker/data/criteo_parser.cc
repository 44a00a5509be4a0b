#include "worker/data/criteo_parser.h"

#include <cmath>

#include "absl/numeric/int128.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/stable_hash.h"

namespace shoal {
namespace {

constexpr int kLogarithms = 1024;

}  // namespace

absl::Status CriteoParser::Validate(uint64_t feature_size, int field_size) {
  if (field_size < kCriteoFields) {
    return absl::InvalidArgumentError(absl::StrCat("field_size is ", field_size,
                                                   "; raw Criteo rows have ",
                                                   kCriteoFields, " fields"));
  }
  if (feature_size != 0 && feature_size <= kCriteoIntegers) {
    return absl::InvalidArgumentError(absl::StrCat(
        "feature_size is ", feature_size, "; raw Criteo rows need more than ",
        kCriteoIntegers, ", or 0 for ids of 64 bits"));
  }
  return absl::OkStatus();
}

CriteoParser::CriteoParser(uint64_t feature_size,
                           [[maybe_unused]] int field_size, bool any_label,
                           int num_labels)
    // With feature_size 0 this wraps to 2^64 - 13.
    : categories_(feature_size - kCriteoIntegers),
      any_label_(any_label),
      num_labels_(num_labels),
      logarithms_(kLogarithms) {
  SHOAL_DCHECK(Validate(feature_size, field_size).ok());
  for (int i = 0; i < kLogarithms; ++i) {
    logarithms_[i] = static_cast<float>(std::log1p(static_cast<double>(i)));
  }
}

float CriteoParser::ValueOf(int64_t integer) const {
  if (integer >= 0 && integer < kLogarithms) return logarithms_[integer];
  const auto x = static_cast<double>(integer);
  return static_cast<float>(x < 0 ? -std::log1p(-x) : std::log1p(x));
}

CriteoParser::Line CriteoParser::Parse(absl::string_view line,
                                       ExampleBatch* out, std::string* reason) {
  const Line kind =
      ParseCriteoRow(line, &row_, reason, any_label_, num_labels_);
  if (kind != Line::kRow) return kind;
  const size_t begin = out->ids.size();
  out->ids.resize(begin + kCriteoFields);
  out->values.resize(begin + kCriteoFields, 1);
  FeatureId* const ids = out->ids.data() + begin;
  float* const values = out->values.data() + begin;
  for (int i = 0; i < kCriteoIntegers; ++i) {
    ids[i] = i;
    values[i] = ValueOf(row_.integers[i]);
  }
  for (int i = 0; i < kCriteoCategories; ++i) {
    const uint64_t hash = StableHashCombine(
        kCriteoIntegers + 1 + i, CriteoCategoryKey(row_.categories[i]));
    ids[kCriteoIntegers + i] =
        kCriteoIntegers +
        absl::Uint128High64(absl::uint128(hash) * categories_);
  }
  out->labels.push_back(row_.label);
  if (!row_.labelled) ++out->unlabelled;
  out->offsets.push_back(static_cast<uint32_t>(out->ids.size()));
  return Line::kRow;
}

}  // namespace shoal
