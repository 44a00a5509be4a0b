#ifndef SHOAL_BENCH_COMPARE_COMPARISON_JSON_H_
#define SHOAL_BENCH_COMPARE_COMPARISON_JSON_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/file_system.h"
#include "bench/compare/cell.h"

namespace shoal {

// A comparison as the text of compare.json: one JSON object, indented, with a
// newline at the end. The same comparison gives the same bytes, and
// ParseComparison gives the comparison back.
std::string ComparisonJson(const Comparison& comparison);

// Reads such a text, which may come from anywhere. Keys that are not known are
// skipped. INVALID_ARGUMENT names the place of a value that is missing, has
// the wrong kind or cannot be: a negative or infinite figure, a mode that there
// is not, a name that two cells have, a cell whose model is not in `models`, a
// straggler that is none of its cell's hosts.
absl::StatusOr<Comparison> ParseComparison(absl::string_view text);

// ParseComparison of a file. Errors: those of the file system and of
// ParseComparison, with the path.
absl::StatusOr<Comparison> ReadComparison(const FileSystem& files,
                                          const std::string& path);

}  // namespace shoal

#endif  // SHOAL_BENCH_COMPARE_COMPARISON_JSON_H_
