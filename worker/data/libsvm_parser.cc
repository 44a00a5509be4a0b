#include "worker/data/libsvm_parser.h"

#include "absl/strings/str_cat.h"
#include "worker/data/row_words.h"

namespace shoal {

bool LooksLikeLibSvm(absl::string_view line) {
  return row_words::ColonsOfFeatures(line) == 1;
}

LibSvmParser::LibSvmParser(uint64_t feature_size, int field_size,
                           bool any_label, int num_labels)
    : feature_size_(feature_size),
      // With feature_size 0 this wraps to the largest number.
      largest_id_(feature_size - 1),
      any_label_(any_label),
      labels_(num_labels),
      ids_(field_size),
      values_(field_size) {}

LibSvmParser::Line LibSvmParser::Parse(absl::string_view line,
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

LibSvmParser::Line LibSvmParser::ParseFeatures(const char* p, const char* end,
                                               uint8_t label, ExampleBatch* out,
                                               std::string* reason) {
  const size_t most = ids_.size();
  size_t features = 0;
  for (;;) {
    p = row_words::SkipBlanks(p, end);
    if (p == end) break;
    const char* const word = p;
    if (features == most) {
      *reason = absl::StrCat("more than ", most, " features (--field_size)");
      return Line::kBad;
    }
    p = row_words::ParseId(p, end, word, "id:value", feature_size_, largest_id_,
                           &ids_[features], reason);
    if (p == nullptr) return Line::kBad;
    p = row_words::ParseValue(p, end, word, &values_[features], reason);
    if (p == nullptr) return Line::kBad;
    ++features;
  }
  out->labels.push_back(label);
  out->ids.insert(out->ids.end(), ids_.begin(), ids_.begin() + features);
  out->values.insert(out->values.end(), values_.begin(),
                     values_.begin() + features);
  out->offsets.push_back(static_cast<uint32_t>(out->ids.size()));
  return Line::kRow;
}

}  // namespace shoal
