#ifndef SHOAL_REPORT_STANDARD_OUTPUT_H_
#define SHOAL_REPORT_STANDARD_OUTPUT_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace shoal {

// Writes a result to standard output, at once and whole. Results go this way
// alone, so that no result is lost unseen. Errors: the write failed, as on a
// full disk or a closed pipe; the message says so and names standard output.
absl::Status WriteStandardOutput(absl::string_view text);

}  // namespace shoal

#endif  // SHOAL_REPORT_STANDARD_OUTPUT_H_
