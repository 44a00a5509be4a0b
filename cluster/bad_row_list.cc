#include "cluster/bad_row_list.h"

#include <cstddef>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace shoal {
namespace {

// True if `text` ends as the place of a row: "a:12", "a: record 12", "a: byte
// 12".
bool IsPlace(absl::string_view text) {
  const size_t digits = text.size();
  while (!text.empty() && absl::ascii_isdigit(text.back())) {
    text.remove_suffix(1);
  }
  return text.size() < digits &&
         (absl::EndsWith(text, ":") || absl::EndsWith(text, ": record ") ||
          absl::EndsWith(text, ": byte "));
}

// The length of the row's place; 0 if it has none.
size_t PlaceLength(absl::string_view row) {
  constexpr absl::string_view kColon = ": ";
  for (size_t at = row.find(kColon); at != row.npos;
       at = row.find(kColon, at + 1)) {
    if (IsPlace(row.substr(0, at))) return at;
  }
  return 0;
}

}  // namespace

std::string BadRowList(const std::vector<std::string>& rows) {
  std::string text;
  absl::string_view shared;  // the reason of the rows before, not yet written
  for (const absl::string_view row : rows) {
    const size_t place = PlaceLength(row);
    const absl::string_view reason = row.substr(place);
    const bool same = place != 0 && reason == shared;
    if (!text.empty()) absl::StrAppend(&text, same ? ", " : shared);
    if (!text.empty() && !same) text += "; ";
    absl::StrAppend(&text, row.substr(0, place));
    shared = reason;
  }
  return absl::StrCat(text, shared);
}

}  // namespace shoal
