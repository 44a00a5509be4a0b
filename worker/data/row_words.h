#ifndef SHOAL_WORKER_DATA_ROW_WORDS_H_
#define SHOAL_WORKER_DATA_ROW_WORDS_H_

#include <cmath>
#include <cstdint>
#include <string>

#include "absl/base/attributes.h"
#include "absl/strings/string_view.h"
#include "core/ids.h"
#include "worker/data/label_range.h"
#include "worker/data/parse_number.h"

// The words of a row of text, in the LibSVM format and in those that are like
// it. All functions read only [p, end). A function that parses returns the end
// of what it parsed, or nullptr if that is bad; *reason then says why, and
// quotes the word in printable ASCII.
namespace shoal::row_words {

inline bool IsBlank(char c) { return c == ' ' || c == '\t'; }

inline const char* SkipBlanks(const char* p, const char* end) {
  while (p != end && IsBlank(*p)) ++p;
  return p;
}

// The word at p in quotation marks, cut after 32 bytes.
std::string Quote(const char* p, const char* end);

// True if all of `text` is one number.
bool IsNumber(absl::string_view text);

// The number of colons in a feature of `line`: 1 in LibSVM, 2 in LibFFM. The
// line has a label and a first feature with that many, whatever follows, or is
// without a label and has nothing but such features. 0 for any other line.
int ColonsOfFeatures(absl::string_view line);

// ParseLabel for a word that is not a label.
const char* NotALabel(const char* p, const char* end, const LabelRange& labels,
                      bool any_label, uint8_t* label, std::string* reason);

// Parses the label at p. With `any_label` any number is good, and is 0 unless
// it is a label; and if the word has a colon, the row has no label: *label is
// 0, and the end is p.
inline const char* ParseLabel(const char* p, const char* end,
                              const LabelRange& labels, bool any_label,
                              uint8_t* label, std::string* reason) {
  float number = 0;
  const char* const behind = ParseFloat(p, end, &number);
  if (behind == nullptr || (behind != end && !IsBlank(*behind)) ||
      (!labels.Find(number, label) && !any_label)) {
    return NotALabel(p, end, labels, any_label, label, reason);
  }
  return behind;
}

// Parses the digits [begin, end) of an id that is not below feature_size, or
// has so many digits that ParseDigits may have wrapped. It is good if
// feature_size is 0 and the id is below 2^64. Otherwise false with *reason,
// which quotes the word at `word` of a row that ends at `row_end`.
bool ParseLargeId(const char* begin, const char* end, const char* word,
                  const char* row_end, uint64_t feature_size, FeatureId* id,
                  std::string* reason);

// Parses the id at p and the colon behind it, in the word at `word`, which
// should have the form `form`. `largest_id` is feature_size - 1, modulo 2^64.
ABSL_ATTRIBUTE_ALWAYS_INLINE inline const char* ParseId(
    const char* p, const char* end, const char* word, const char* form,
    uint64_t feature_size, uint64_t largest_id, FeatureId* id,
    std::string* reason) {
  const char* const begin = p;
  uint64_t number = 0;
  p = ParseDigits(p, end, &number);
  if (p == begin || p == end || *p != ':') {
    *reason = Quote(word, end) + " is not " + form;
    return nullptr;
  }
  *id = number;
  // A number of up to nineteen digits cannot have wrapped.
  if ((number > largest_id || p - begin > 19) &&
      !ParseLargeId(begin, p, word, end, feature_size, id, reason)) {
    return nullptr;
  }
  return p + 1;
}

// Parses the value at p, a finite number up to a blank or the end, in the word
// at `word`.
ABSL_ATTRIBUTE_ALWAYS_INLINE inline const char* ParseValue(
    const char* p, const char* end, const char* word, float* value,
    std::string* reason) {
  // A single digit is the most frequent value: 1 for a category, 0 for missing.
  if (end - p >= 2 && static_cast<unsigned char>(*p - '0') <= 9 &&
      p[1] == ' ') {
    *value = static_cast<float>(*p - '0');
    return p + 1;
  }
  p = ParseFloat(p, end, value);
  if (p == nullptr || (p != end && !IsBlank(*p)) || !std::isfinite(*value)) {
    *reason = "value of " + Quote(word, end) + " is not a finite number";
    return nullptr;
  }
  return p;
}

}  // namespace shoal::row_words

#endif  // SHOAL_WORKER_DATA_ROW_WORDS_H_
