#ifndef SHOAL_WORKER_DATA_OPEN_EXAMPLES_H_
#define SHOAL_WORKER_DATA_OPEN_EXAMPLES_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/file_system.h"
#include "worker/data/data_format.h"
#include "worker/data/example_reader.h"

namespace shoal {

struct ExampleOptions {
  uint64_t feature_size = 0;  // ids at or above it make a bad row; 0: none do
  int field_size = 0;         // rows with more features are bad
  // A line or record longer than this is a bad row, and is not held.
  uint64_t max_record_bytes = 1 << 20;
  // 1 parses on the caller's thread. More are threads beside it; they pay where
  // a worker waits for its data and cores are idle.
  int parse_threads = 1;
  // Labels are any numbers, and count as 0 unless they are 1; of TFRecord they
  // may be absent. For rows whose labels are not known. (Criteo lines need
  // theirs.)
  bool any_label = false;
  // Bad rows keep their places, as rows of this label without features, so that
  // scores can be told apart by their place alone. Left out: they have none.
  std::optional<uint8_t> bad_row_label;
};

// The rows of bytes [begin, end) of `file`, which is of `format`. A compressed
// file has one piece, the whole of it, whatever `begin` and `end` are.
// `file` and `cancelled` must outlive the reader. INVALID_ARGUMENT where the
// format and the options do not fit.
absl::StatusOr<std::unique_ptr<ExampleReader>> OpenExamples(
    const RandomAccessFile* file, const FileFormat& format, uint64_t begin,
    uint64_t end, const ExampleOptions& options,
    const std::atomic<bool>* cancelled = nullptr);

// Whether an `options` above fits a format; INVALID_ARGUMENT names the flag.
absl::Status CheckFits(DataFormat format, const ExampleOptions& options);

}  // namespace shoal

#endif  // SHOAL_WORKER_DATA_OPEN_EXAMPLES_H_
