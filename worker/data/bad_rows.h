#ifndef SHOAL_WORKER_DATA_BAD_ROWS_H_
#define SHOAL_WORKER_DATA_BAD_ROWS_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"

namespace shoal {

// A record that should be a row but cannot be parsed.
struct BadRow {
  // As in Record. For a Quarantine: counted from the file's begin; 0: not
  // known.
  uint64_t number = 0;
  uint64_t offset = 0;  // position of the record's first byte in the data
  std::string reason;   // printable ASCII
};

// SEAM: takes bad rows as a reader meets them, in their order. Implementations:
// PieceReader's (counts them, keeps the first, writes them to a Quarantine),
// those of `shoal data stat`, and those of tests. Thread-compatible.
class BadRowSink {
 public:
  virtual ~BadRowSink() = default;
  // Takes a bad row. An error ends the reading.
  virtual absl::Status Add(const BadRow& row) = 0;
};

}  // namespace shoal

#endif  // SHOAL_WORKER_DATA_BAD_ROWS_H_
