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
inline constexpr size_t kMaxCriteoValueBytes = 64;  // of a category
inline constexpr int kMaxCriteoDigits = 18;         // of an integer

// A line of Criteo's raw click logs (the Kaggle set and the 1 TB logs alike),
// taken apart: columns I1 ... I13 and C1 ... C26.
struct CriteoRow {
  uint8_t label = 0;   // 0 or 1
  uint32_t given = 0;  // bit i: integers[i] is there
  std::array<int64_t, kCriteoIntegers> integers = {};  // 0 where it is not
  // Views of the line; empty where it is not.
  std::array<absl::string_view, kCriteoCategories> categories = {};

  bool has_integer(int i) const { return (given >> i & 1) != 0; }
};

// kNoRow: an empty line.
enum class CriteoLine { kRow, kNoRow, kBad };

// Takes apart one line, given without its '\n':
//   line     = label 13*13(tab [integer]) 26*26(tab [category]) ["\r"]
//   label    = "0" / "1"
//   integer  = ["-"] 1*18digit
//   category = 1*64(printable ASCII: space ... "~")
// Whatever else it holds makes it bad: *reason says why, quoting what was met
// in printable ASCII, and *row is unspecified.
CriteoLine ParseCriteoRow(absl::string_view line, CriteoRow* row,
                          std::string* reason);

// A category as a key: one of up to eight bytes is its bytes as a little-endian
// number, so that no two are the same; a longer one is hashed (StableHash).
uint64_t CriteoCategoryKey(absl::string_view category);

}  // namespace shoal

#endif  // SHOAL_WORKER_DATA_CRITEO_ROW_H_
