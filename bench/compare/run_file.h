#ifndef SHOAL_BENCH_COMPARE_RUN_FILE_H_
#define SHOAL_BENCH_COMPARE_RUN_FILE_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "bench/compare/cell.h"

namespace shoal {

// One run of a cell, which a comparison leaves behind at once, so that it can
// go on after a stop. `settings` says of which comparison the run is.
struct RunFile {
  std::string settings;
  Cell cell;  // with this one run
  // What the run found out about the data, which is that of all runs.
  ComparedData data;
};

// The text of the file: one JSON object, indented.
std::string RunFileJson(const RunFile& run);
// INVALID_ARGUMENT as ParseComparison (comparison_json.h), and if there is not
// exactly one run.
absl::StatusOr<RunFile> ParseRunFile(absl::string_view text);

}  // namespace shoal

#endif  // SHOAL_BENCH_COMPARE_RUN_FILE_H_
