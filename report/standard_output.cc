#include "report/standard_output.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "absl/strings/str_cat.h"

namespace shoal {

absl::Status WriteStandardOutput(absl::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(STDOUT_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      return absl::UnknownError(absl::StrCat(
          "cannot write the result to standard output: ", strerror(errno)));
    }
    text.remove_prefix(written);
  }
  return absl::OkStatus();
}

}  // namespace shoal
