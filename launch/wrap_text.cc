#include "launch/wrap_text.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace shoal {

std::string WrapText(absl::string_view text, int columns, int indent) {
  const std::string margin(indent, ' ');
  std::string out = margin;
  size_t line_start = 0;
  for (const absl::string_view word :
       absl::StrSplit(text, ' ', absl::SkipEmpty())) {
    const size_t length = out.size() - line_start;
    if (length > margin.size()) {
      if (length + 1 + word.size() > static_cast<size_t>(columns)) {
        absl::StrAppend(&out, "\n");
        line_start = out.size();
        absl::StrAppend(&out, margin);
      } else {
        absl::StrAppend(&out, " ");
      }
    }
    absl::StrAppend(&out, word);
  }
  return out;
}

}  // namespace shoal
