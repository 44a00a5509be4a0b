#ifndef SHOAL_WORKER_DATA_BAD_ROWS_H_
#define SHOAL_WORKER_DATA_BAD_ROWS_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"

namespace shoal {

// A record that is no row though it should be one.
struct BadRow {
  uint64_t number = 0;  // as Record's
  uint64_t offset = 0;  // of its first byte in the data
  std::string reason;   // printable ASCII
};

// SEAM: what is done with bad rows as they are met, in their order.
// Implementations: those of PieceReader (count them, keep the first, write them
// to a Quarantine), of `shoal data stat` and of tests. Thread-compatible.
class BadRowSink {
 public:
  virtual ~BadRowSink() = default;
  // An error ends the reading.
  virtual absl::Status Add(const BadRow& row) = 0;
};

}  // namespace shoal

#endif  // SHOAL_WORKER_DATA_BAD_ROWS_H_
