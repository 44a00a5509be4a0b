#ifndef SHOAL_WORKER_DATA_CRITEO_ROW_H_
#define SHOAL_WORKER_DATA_CRITEO_ROW_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace shoal {

inline constexpr int kCriteoIntegers = 13;
inline constexpr int kCriteoCategories = 26;
inline constexpr int kCriteoFields = kCriteoIntegers + kCriteoCategories;
inline constexpr size_t kMaxCriteoValueBytes = 64;  // bytes of a category
inline constexpr int kMaxCriteoDigits = 18;         // digits of an integer

// The columns I1 ... I13 and C1 ... C26 of a line of Criteo's raw click logs
// (both the Kaggle set and the 1 TB logs).
struct CriteoRow {
  uint8_t label = 0;      // below num_labels
  bool labelled = true;   // false: the label is absent, and is 0
  uint32_t given = 0;  // bit i: integers[i] is present
  std::array<int64_t, kCriteoIntegers> integers = {};  // 0 if absent
  // Views of the line; empty if absent.
  std::array<absl::string_view, kCriteoCategories> categories = {};

  bool has_integer(int i) const { return (given >> i & 1) != 0; }
};

// True if `line` has the columns of a row and no colon in its first two, or is
// a good row without a label, which has a column less.
bool LooksLikeCriteo(absl::string_view line);

// The result of parsing a line. kNoRow: the line is empty.
enum class CriteoLine { kRow, kNoRow, kBad };

// Parses one line, given without its '\n':
//   line     = label 13*13(tab [integer]) 26*26(tab [category]) ["\r"]
//   label    = "0" ... num_labels - 1, in decimal digits without leading zeros
//   integer  = ["-"] 1*18digit
//   category = 1*64(printable ASCII: space ... "~")
// Any other line is bad: *reason says why and quotes the column in printable
// ASCII, and *row is unspecified. With `any_label` the label may be empty, or
// left out with its tab, as in Criteo's test sets; it then counts as 0.
// REQUIRES: 2 <= num_labels <= kMostLabels (core/label.h).
CriteoLine ParseCriteoRow(absl::string_view line, CriteoRow* row,
                          std::string* reason, bool any_label = false,
                          int num_labels = 2);

// The key of a category. A category of up to eight bytes is read as a
// little-endian number, so that no two have the same key; a longer category is
// hashed (StableHash).
uint64_t CriteoCategoryKey(absl::string_view category);

}  // namespace shoal

#endif  // SHOAL_WORKER_DATA_CRITEO_ROW_H_
