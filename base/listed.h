#ifndef SHOAL_BASE_LISTED_H_
#define SHOAL_BASE_LISTED_H_

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"

namespace shoal {

// "1, 2 and 8": parts with `word` ("and", "or") before the last one.
inline std::string Listed(const std::vector<std::string>& parts,
                          absl::string_view word) {
  if (parts.size() < 2) return absl::StrJoin(parts, "");
  return absl::StrCat(absl::StrJoin(parts.begin(), parts.end() - 1, ", "), " ",
                      word, " ", parts.back());
}

}  // namespace shoal

#endif  // SHOAL_BASE_LISTED_H_
