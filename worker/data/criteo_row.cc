#include "worker/data/criteo_row.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/counted.h"
#include "base/stable_hash.h"
#include "core/label.h"
#include "worker/data/parse_number.h"

namespace shoal {
namespace {

constexpr int kColumns = 1 + kCriteoFields;
constexpr char kWhoTakesIt[] = " (shoal infer takes such rows)";

bool IsPrintable(char c) { return c >= ' ' && c <= '~'; }

// Sets the high bit of each of the eight bytes that is not printable. The
// lowest such byte is exact; bytes above it may be set by its borrow.
uint64_t NotPrintable(uint64_t bytes) {
  constexpr uint64_t kOnes = 0x0101010101010101u;
  return (bytes | (bytes + kOnes) | (bytes - kOnes * ' ')) & (kOnes * 0x80);
}

// Returns the end of the category at p: its tab, `end`, or a byte that no
// category may contain.
const char* EndOfCategory(const char* p, const char* end) {
  if (end - p >= 8) {
    uint64_t bytes;
    std::memcpy(&bytes, p, 8);
    const uint64_t other = NotPrintable(bytes);
    if (other != 0) return p + std::countr_zero(other) / 8;
    p += 8;
  }
  while (p != end && IsPrintable(*p)) ++p;
  return p;
}

// Parses the integer at p, up to its tab; nullptr if there is no integer.
const char* ParseInteger(const char* p, const char* end, int64_t* value) {
  const bool negative = p != end && *p == '-';
  const char* const digits = p + (negative ? 1 : 0);
  uint64_t magnitude = 0;
  p = ParseDigits(digits, end, &magnitude);
  if (p == digits || p - digits > kMaxCriteoDigits) return nullptr;
  if (p == end || *p != '\t') return nullptr;
  *value = negative ? -static_cast<int64_t>(magnitude)
                    : static_cast<int64_t>(magnitude);
  return p;
}

// Parses the label at p; nullptr if there is no label. A fourth digit is left:
// the caller refuses what is not the column's end.
const char* ParseLabel(const char* p, const char* end, int num_labels,
                       uint8_t* label) {
  constexpr int kMostDigits = 3;
  const char* const digits = p;
  int number = 0;
  while (p != end && p - digits < kMostDigits && *p >= '0' && *p <= '9') {
    number = 10 * number + (*p++ - '0');
  }
  if (p == digits || number >= num_labels) return nullptr;
  if (*digits == '0' && p - digits > 1) return nullptr;
  *label = static_cast<uint8_t>(number);
  return p;
}

// Parses the columns behind the label without giving reasons; false if one is
// bad.
bool TakeFeatures(const char* p, const char* end, CriteoRow* row) {
  row->given = 0;
  for (int i = 0; i < kCriteoIntegers; ++i) {
    row->integers[i] = 0;
    if (p == end) return false;
    if (*p != '\t') {
      p = ParseInteger(p, end, &row->integers[i]);
      if (p == nullptr) return false;
      row->given |= 1u << i;
    }
    ++p;  // the tab
  }
  for (int i = 0;; ++i) {
    const char* const begin = p;
    p = EndOfCategory(p, end);
    const size_t size = p - begin;
    if (size > kMaxCriteoValueBytes) return false;
    row->categories[i] = absl::string_view(begin, size);
    if (i + 1 == kCriteoCategories) return p == end;
    if (p == end || *p != '\t') return false;
    ++p;
  }
}

// Parses the line without giving reasons; false if it is bad.
bool TakeApart(const char* p, const char* end, int num_labels,
               CriteoRow* row) {
  p = ParseLabel(p, end, num_labels, &row->label);
  return p != nullptr && p != end && *p == '\t' &&
         TakeFeatures(p + 1, end, row);
}

// The same for a line whose label is empty or left out. A line has one reading
// at most: the number of its tabs says whether the label's column is there.
bool TakeUnlabelled(const char* p, const char* end, CriteoRow* row) {
  row->label = 0;
  return (p != end && *p == '\t' && TakeFeatures(p + 1, end, row)) ||
         TakeFeatures(p, end, row);
}

// Quotes a column for an error message. Files may hold any bytes; messages hold
// printable ASCII only.
std::string Quote(absl::string_view column) {
  constexpr size_t kMaxBytes = 32;
  return absl::StrCat("'", absl::CHexEscape(column.substr(0, kMaxBytes)),
                      column.size() > kMaxBytes ? "...'" : "'");
}

// The reason why the line was refused. With `any_label` its first column may be
// empty.
std::string Explain(absl::string_view line, bool any_label, int num_labels) {
  const auto columns = 1 + std::count(line.begin(), line.end(), '\t');
  if (columns == kColumns - 1) {
    return absl::StrCat("the label is missing: ", columns, " columns, ",
                        kColumns, " are needed", kWhoTakesIt);
  }
  if (columns != kColumns) {
    return absl::StrCat(Counted(columns, "column"), ", ", kColumns,
                        " are needed (a label, 13 integers and 26 categories "
                        "separated by tabs)");
  }
  const char* const end = line.data() + line.size();
  const char* p = line.data();
  for (int c = 0; c < kColumns; ++c) {
    const char* const column_end = std::find(p, end, '\t');
    const absl::string_view column(p, column_end - p);
    p = column_end == end ? end : column_end + 1;
    if (c == 0) {
      uint8_t label = 0;
      if (ParseLabel(column.begin(), column.end(), num_labels, &label) ==
          column.end()) {
        continue;
      }
      if (column.empty() && any_label) continue;
      if (column.empty()) {
        return absl::StrCat("the label is missing: the first column is empty",
                            kWhoTakesIt);
      }
      return absl::StrCat("label ", Quote(column),
                          num_labels == 2
                              ? " is neither 0 nor 1"
                              : absl::StrCat(" is not an integer in [0, ",
                                             num_labels - 1, "]"));
    }
    if (column.empty()) continue;
    if (c <= kCriteoIntegers) {
      int64_t value = 0;
      // Include the tab that follows every integer.
      if (ParseInteger(column.data(), end, &value) != nullptr) continue;
      return absl::StrCat("I", c, " is ", Quote(column),
                          ", which is not an integer of at most ",
                          kMaxCriteoDigits, " digits");
    }
    const int category = c - kCriteoIntegers;
    if (!std::all_of(column.begin(), column.end(), IsPrintable)) {
      return absl::StrCat("C", category, " is ", Quote(column),
                          ", with a byte that is not printable ASCII");
    }
    if (column.size() > kMaxCriteoValueBytes) {
      return absl::StrCat("C", category, " is ", Quote(column), " of ",
                          column.size(), " bytes; at most ",
                          kMaxCriteoValueBytes, " are allowed");
    }
  }
  return "not a line of Criteo's format";  // never: every refusal is above
}

}  // namespace

bool LooksLikeCriteo(absl::string_view line) {
  const auto columns = 1 + std::count(line.begin(), line.end(), '\t');
  if (columns == kColumns) {
    // LibSVM may contain tabs too, but always has a colon.
    const size_t second = line.find('\t', line.find('\t') + 1);
    return !absl::StrContains(line.substr(0, second), ':');
  }
  CriteoRow row;
  std::string reason;
  return columns == kColumns - 1 &&
         ParseCriteoRow(line, &row, &reason, /*any_label=*/true) ==
             CriteoLine::kRow;
}

CriteoLine ParseCriteoRow(absl::string_view line, CriteoRow* row,
                          std::string* reason, bool any_label,
                          int num_labels) {
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  if (line.empty()) return CriteoLine::kNoRow;
  SHOAL_DCHECK(num_labels >= 2 && num_labels <= kMostLabels);
  if (TakeApart(line.data(), line.data() + line.size(), num_labels, row)) {
    row->labelled = true;
    return CriteoLine::kRow;
  }
  row->labelled = false;
  if (!any_label) {
    *reason = Explain(line, any_label, num_labels);
    return CriteoLine::kBad;
  }
  if (TakeUnlabelled(line.data(), line.data() + line.size(), row)) {
    return CriteoLine::kRow;
  }
  const bool left_out =
      std::count(line.begin(), line.end(), '\t') == kColumns - 2;
  *reason =
      Explain(absl::StrCat(left_out ? "\t" : "", line), any_label, num_labels);
  return CriteoLine::kBad;
}

uint64_t CriteoCategoryKey(absl::string_view category) {
  uint64_t key = 0;
  if (category.size() == 8) {
    std::memcpy(&key, category.data(), 8);
    return key;
  }
  if (category.size() > 8) return StableHash(category);
  for (size_t i = category.size(); i > 0; --i) {
    key = key << 8 | static_cast<unsigned char>(category[i - 1]);
  }
  return key;
}

}  // namespace shoal
