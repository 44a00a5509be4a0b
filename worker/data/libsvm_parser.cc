#include "worker/data/libsvm_parser.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "worker/data/parse_number.h"

namespace shoal {
namespace {

bool IsBlank(char c) { return c == ' ' || c == '\t'; }

const char* SkipBlanks(const char* p, const char* end) {
  while (p != end && IsBlank(*p)) ++p;
  return p;
}

const char* EndOfWord(const char* p, const char* end) {
  return std::find_if(p, end, IsBlank);
}

// Quotes the word at p for an error message. Files may hold any bytes; messages
// hold printable ASCII only.
std::string Quote(const char* p, const char* end) {
  constexpr size_t kMaxBytes = 32;
  const size_t size = EndOfWord(p, end) - p;
  return absl::StrCat(
      "'", absl::CHexEscape(absl::string_view(p, std::min(size, kMaxBytes))),
      size > kMaxBytes ? "...'" : "'");
}

// True if the word at p is id:value.
bool IsFeature(const char* p, const char* end) {
  const char* const word = p;
  uint64_t id = 0;
  p = ParseDigits(p, end, &id);
  if (p == word || p == end || *p != ':') return false;
  float value = 0;
  p = ParseFloat(p + 1, end, &value);
  return p != nullptr && (p == end || absl::ascii_isspace(*p));
}

}  // namespace

bool LooksLikeLibSvm(absl::string_view line) {
  line = absl::StripAsciiWhitespace(line);
  const char* const end = line.data() + line.size();
  if (IsFeature(line.data(), end)) return true;
  float label = 0;
  const char* p = ParseFloat(line.data(), end, &label);
  if (p == nullptr) return false;
  const absl::string_view rest =
      absl::StripLeadingAsciiWhitespace(absl::string_view(p, end - p));
  if (rest.empty()) return true;
  if (rest.data() == p) return false;
  uint64_t id = 0;
  const char* const colon = ParseDigits(rest.data(), end, &id);
  return colon != rest.data() && colon != end && *colon == ':';
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
  const char* p = SkipBlanks(line.data(), end);
  if (p == end || *p == '#') return Line::kNoRow;

  const char* const label_begin = p;
  float number = 0;
  uint8_t label = 0;
  p = ParseFloat(p, end, &number);
  if (p == nullptr || (p != end && !IsBlank(*p)) ||
      (!labels_.Find(number, &label) && !any_label_)) {
    const bool missing = std::find(label_begin, EndOfWord(label_begin, end),
                                   ':') != EndOfWord(label_begin, end);
    if (missing && any_label_) {
      return ParseFeatures(label_begin, end, 0, out, reason);
    }
    *reason =
        missing ? absl::StrCat("the label is missing: the row begins with ",
                               Quote(label_begin, end),
                               " (--task_type=infer takes such rows)")
                : absl::StrCat("label ", Quote(label_begin, end), " ",
                               any_label_ ? "is not a number"
                                          : labels_.Refusal());
    return Line::kBad;
  }
  return ParseFeatures(p, end, label, out, reason);
}

LibSvmParser::Line LibSvmParser::ParseFeatures(const char* p, const char* end,
                                               uint8_t label, ExampleBatch* out,
                                               std::string* reason) {
  const size_t most = ids_.size();
  size_t features = 0;
  for (;;) {
    p = SkipBlanks(p, end);
    if (p == end) break;
    const char* const word = p;
    if (features == most) {
      *reason = absl::StrCat("more than ", most, " features (field_size)");
      return Line::kBad;
    }
    uint64_t id = 0;
    p = ParseDigits(p, end, &id);
    if (p == word || p == end || *p != ':') {
      *reason = absl::StrCat(Quote(word, end), " is not id:value");
      return Line::kBad;
    }
    // A number of up to nineteen digits cannot have wrapped.
    if (id > largest_id_ || p - word > 19) {
      if (feature_size_ != 0) {
        *reason = absl::StrCat("id of ", Quote(word, end),
                               " is not below feature_size ", feature_size_);
        return Line::kBad;
      }
      if (!absl::SimpleAtoi(absl::string_view(word, p - word), &id)) {
        *reason =
            absl::StrCat("id of ", Quote(word, end), " is not below 2^64");
        return Line::kBad;
      }
    }
    ++p;
    float value = 0;
    // A single digit is the most frequent value: 1 for a category, 0 for
    // missing.
    if (end - p >= 2 && static_cast<unsigned char>(*p - '0') <= 9 &&
        p[1] == ' ') {
      value = static_cast<float>(*p - '0');
      ++p;
    } else {
      p = ParseFloat(p, end, &value);
      if (p == nullptr || (p != end && !IsBlank(*p)) || !std::isfinite(value)) {
        *reason = absl::StrCat("value of ", Quote(word, end),
                               " is not a finite number");
        return Line::kBad;
      }
    }
    ids_[features] = id;
    values_[features] = value;
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
