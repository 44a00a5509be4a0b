#include "worker/data/libffm_parser.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "worker/data/row_words.h"

namespace shoal {
namespace {

using row_words::Quote;

constexpr char kForm[] = "field:id:value";

}  // namespace

bool LooksLikeLibFfm(absl::string_view line) {
  return row_words::ColonsOfFeatures(line) == 2;
}

LibFfmParser::LibFfmParser(uint64_t feature_size, int field_size,
                           bool any_label, int num_labels)
    : feature_size_(feature_size),
      // With feature_size 0 this wraps to the largest number.
      largest_id_(feature_size - 1),
      field_size_(static_cast<uint64_t>(field_size)),
      any_label_(any_label),
      labels_(num_labels),
      ids_(field_size),
      values_(field_size),
      fields_(field_size),
      row_of_field_(field_size) {
  SHOAL_DCHECK(field_size >= 1 && field_size <= 65536);
}

LibFfmParser::Line LibFfmParser::Parse(absl::string_view line,
                                       ExampleBatch* out, std::string* reason) {
  const char* end = line.data() + line.size();
  if (!line.empty() && end[-1] == '\r') --end;
  const char* p = row_words::SkipBlanks(line.data(), end);
  if (p == end || *p == '#') return Line::kNoRow;
  uint8_t label = 0;
  const char* const first = p;
  p = row_words::ParseLabel(p, end, labels_, any_label_, &label, reason);
  if (p == nullptr) return Line::kBad;
  const Line kind = ParseFeatures(p, end, label, out, reason);
  if (p == first && kind == Line::kRow) ++out->unlabelled;
  return kind;
}

LibFfmParser::Line LibFfmParser::ParseFeatures(const char* p, const char* end,
                                               uint8_t label, ExampleBatch* out,
                                               std::string* reason) {
  if (++row_ == 0) {  // it wrapped
    std::fill(row_of_field_.begin(), row_of_field_.end(), 0);
    row_ = 1;
  }
  size_t features = 0;
  for (;;) {
    p = row_words::SkipBlanks(p, end);
    if (p == end) break;
    const char* const word = p;
    uint64_t field = 0;
    p = ParseDigits(p, end, &field);
    if (p == word || p == end || *p != ':') {
      *reason = absl::StrCat(Quote(word, end), " is not ", kForm);
      return Line::kBad;
    }
    // A number of up to nineteen digits cannot have wrapped.
    if (field >= field_size_ || p - word > 19) {
      *reason = absl::StrCat("field of ", Quote(word, end),
                             " is not below --field_size=", field_size_);
      return Line::kBad;
    }
    if (row_of_field_[field] == row_) {
      *reason = absl::StrCat(Quote(word, end), " is a second value of field ",
                             field);
      return Line::kBad;
    }
    row_of_field_[field] = row_;
    p = row_words::ParseId(p + 1, end, word, kForm, feature_size_, largest_id_,
                           &ids_[features], reason);
    if (p == nullptr) return Line::kBad;
    p = row_words::ParseValue(p, end, word, &values_[features], reason);
    if (p == nullptr) return Line::kBad;
    fields_[features] = static_cast<uint16_t>(field);
    ++features;
  }
  out->labels.push_back(label);
  out->ids.insert(out->ids.end(), ids_.begin(), ids_.begin() + features);
  out->values.insert(out->values.end(), values_.begin(),
                     values_.begin() + features);
  out->fields.insert(out->fields.end(), fields_.begin(),
                     fields_.begin() + features);
  out->offsets.push_back(static_cast<uint32_t>(out->ids.size()));
  return Line::kRow;
}

}  // namespace shoal
