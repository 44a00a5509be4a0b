#include "worker/data/row_words.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace shoal::row_words {
namespace {

const char* EndOfWord(const char* p, const char* end) {
  return std::find_if(p, end, IsBlank);
}

// The number of colons in the feature at *p, and moves *p behind it; 0 if the
// word at *p is no feature.
int TakeFeature(const char** p, const char* end) {
  for (const int colons : {1, 2}) {
    const char* const digits = *p;
    uint64_t number = 0;
    *p = ParseDigits(*p, end, &number);
    if (*p == digits || *p == end || **p != ':') return 0;
    ++*p;
    float value = 0;
    const char* const behind = ParseFloat(*p, end, &value);
    if (behind != nullptr && (behind == end || absl::ascii_isspace(*behind))) {
      *p = behind;
      return colons;
    }
  }
  return 0;
}

// ColonsOfFeatures for a line without a label.
int ColonsWithoutLabel(absl::string_view line) {
  const char* p = line.data();
  const char* const end = p + line.size();
  int colons = 0;
  while (p != end) {
    const int now = TakeFeature(&p, end);
    if (now == 0 || (colons != 0 && now != colons)) return 0;
    colons = now;
    while (p != end && absl::ascii_isspace(*p)) ++p;
  }
  return colons;
}

}  // namespace

bool IsNumber(absl::string_view text) {
  const char* const end = text.data() + text.size();
  float number = 0;
  return ParseFloat(text.data(), end, &number) == end;
}

int ColonsOfFeatures(absl::string_view line) {
  line = absl::StripAsciiWhitespace(line);
  const char* const end = line.data() + line.size();
  float label = 0;
  const char* p = ParseFloat(line.data(), end, &label);
  if (p == nullptr || p == end) return 0;
  if (!absl::ascii_isspace(*p)) return ColonsWithoutLabel(line);
  while (absl::ascii_isspace(*p)) ++p;
  int colons = 0;
  while (colons < 2) {
    const char* const digits = p;
    uint64_t number = 0;
    p = ParseDigits(p, end, &number);
    if (p == digits || p == end || *p != ':') break;
    ++colons;
    ++p;
  }
  return colons;
}

// Files may hold any bytes; messages hold printable ASCII only.
std::string Quote(const char* p, const char* end) {
  constexpr size_t kMaxBytes = 32;
  const size_t size = EndOfWord(p, end) - p;
  return absl::StrCat(
      "'", absl::CHexEscape(absl::string_view(p, std::min(size, kMaxBytes))),
      size > kMaxBytes ? "...'" : "'");
}

const char* NotALabel(const char* p, const char* end, const LabelRange& labels,
                      bool any_label, uint8_t* label, std::string* reason) {
  const char* const word_end = EndOfWord(p, end);
  if (std::find(p, word_end, ':') == word_end) {
    *reason = absl::StrCat("label ", Quote(p, end), " ",
                           any_label ? "is not a number" : labels.Refusal());
    return nullptr;
  }
  if (any_label) {
    *label = 0;
    return p;
  }
  // The same words for all such rows, so that messages can say them once.
  *reason =
      "the label is missing: the row begins with a feature (shoal infer takes "
      "such rows)";
  return nullptr;
}

bool ParseLargeId(const char* begin, const char* end, const char* word,
                  const char* row_end, uint64_t feature_size, FeatureId* id,
                  std::string* reason) {
  if (feature_size != 0) {
    *reason = absl::StrCat("id of ", Quote(word, row_end),
                           " is not below --feature_size=", feature_size);
    return false;
  }
  if (absl::SimpleAtoi(absl::string_view(begin, end - begin), id)) return true;
  *reason = absl::StrCat("id of ", Quote(word, row_end), " is not below 2^64");
  return false;
}

}  // namespace shoal::row_words
