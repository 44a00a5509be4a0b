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
  for (size_t i = 0; i < rows.size(); ++i) {
    const absl::string_view row = rows[i];
    const size_t place = PlaceLength(row);
    absl::string_view next;
    if (i + 1 < rows.size()) next = rows[i + 1];
    const size_t next_place = PlaceLength(next);
    const bool shares = place != 0 && next_place != 0 &&
                        row.substr(place) == next.substr(next_place);
    absl::StrAppend(&text, shares ? row.substr(0, place) : row,
                    i + 1 == rows.size() ? "" : shares ? ", " : "; ");
  }
  return text;
}

}  // namespace shoal
