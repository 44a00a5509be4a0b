#include "launch/wrap_text.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace shoal {

namespace {

// One line of the text, wrapped.
void AppendWrapped(absl::string_view text, int columns,
                   const std::string& margin, std::string* out) {
  absl::StrAppend(out, margin);
  size_t line_start = out->size() - margin.size();
  for (const absl::string_view word :
       absl::StrSplit(text, ' ', absl::SkipEmpty())) {
    const size_t length = out->size() - line_start;
    if (length > margin.size()) {
      if (length + 1 + word.size() > static_cast<size_t>(columns)) {
        absl::StrAppend(out, "\n");
        line_start = out->size();
        absl::StrAppend(out, margin);
      } else {
        absl::StrAppend(out, " ");
      }
    }
    absl::StrAppend(out, word);
  }
}

}  // namespace

std::string WrapText(absl::string_view text, int columns, int indent) {
  const std::string margin(indent, ' ');
  std::string out;
  bool first = true;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    if (!std::exchange(first, false)) absl::StrAppend(&out, "\n");
    if (absl::StartsWith(line, "  ")) {
      absl::StrAppend(&out, margin, line);
    } else {
      AppendWrapped(line, columns, margin, &out);
    }
  }
  return out;
}

}  // namespace shoal
