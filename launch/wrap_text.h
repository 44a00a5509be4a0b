#ifndef SHOAL_LAUNCH_WRAP_TEXT_H_
#define SHOAL_LAUNCH_WRAP_TEXT_H_

#include <string>

#include "absl/strings/string_view.h"

namespace shoal {

// `text` cut at spaces into lines of at most `columns` characters, each after
// `indent` spaces; no newline at the end. A longer word has its own line. A
// newline in `text` begins a new line, and a line of `text` that begins with
// two spaces, such as a command to type, stays as it is.
std::string WrapText(absl::string_view text, int columns, int indent);

}  // namespace shoal

#endif  // SHOAL_LAUNCH_WRAP_TEXT_H_
