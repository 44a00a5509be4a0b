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
  uint64_t feature_size = 0;  // ids at or above it make a bad row; 0: no limit
  int field_size = 0;         // rows with more features are bad
  // A line or record longer than this is a bad row, and is not held in memory.
  uint64_t max_record_bytes = 1 << 20;
  // Number of parsing threads. 1 parses on the caller's thread. More parse on
  // threads of their own, which is faster if a worker waits for its data and
  // cores are idle.
  int parse_threads = 1;
  // True for rows whose labels are not known: labels may be any numbers, and
  // count as 0 unless they are 1. In TFRecord they may be absent. (Criteo lines
  // must have a label.)
  bool any_label = false;
  // Label of bad rows. With a value, bad rows keep their places, as rows of
  // this label without features, so that the place of a score identifies its
  // row. Without a value, bad rows take no place.
  std::optional<uint8_t> bad_row_label;
};

// Opens the rows of bytes [begin, end) of `file`, which has the format
// `format`. A compressed file is one piece: it is read whole for any `begin`
// and `end`. `file` and `cancelled` must outlive the reader. INVALID_ARGUMENT
// if the format and the options do not fit.
absl::StatusOr<std::unique_ptr<ExampleReader>> OpenExamples(
    const RandomAccessFile* file, const FileFormat& format, uint64_t begin,
    uint64_t end, const ExampleOptions& options,
    const std::atomic<bool>* cancelled = nullptr);

// Checks that `options` fit the format. INVALID_ARGUMENT names the flag.
absl::Status CheckFits(DataFormat format, const ExampleOptions& options);

}  // namespace shoal

#endif  // SHOAL_WORKER_DATA_OPEN_EXAMPLES_H_
