#ifndef SHOAL_BENCH_COMPARE_PAUSE_FILE_H_
#define SHOAL_BENCH_COMPARE_PAUSE_FILE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "base/file_system.h"

namespace shoal {

// Of hosts whose paused speed is measured (bench/compare/pause_meter.h).
struct PauseKind {
  std::string settings;  // of which comparison and model: RunFile::settings
  bool servers = false;  // of its mode
  bool copies = false;
  double cores = 1;  // of a host
  double dilation = 1;

  friend auto operator<=>(const PauseKind&, const PauseKind&) = default;
};

// What one host took, without pauses and with those of its dilation.
struct PausePair {
  PauseKind kind;
  absl::Time ended;
  double unpaused = 0;  // processor seconds a sample, above 0
  double paused = 0;
};

// The pairs that a comparison has measured, which it leaves behind at once, so
// that it can go on with them after a stop: one JSON object, indented.
std::string PauseFileJson(const std::vector<PausePair>& pairs);
// INVALID_ARGUMENT as ParseComparison (comparison_json.h).
absl::StatusOr<std::vector<PausePair>> ParsePauseFile(absl::string_view text);
// Also the errors of the file system.
absl::StatusOr<std::vector<PausePair>> ReadPauseFile(const FileSystem& files,
                                                     const std::string& path);

}  // namespace shoal

#endif  // SHOAL_BENCH_COMPARE_PAUSE_FILE_H_
