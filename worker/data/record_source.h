#ifndef SHOAL_WORKER_DATA_RECORD_SOURCE_H_
#define SHOAL_WORKER_DATA_RECORD_SOURCE_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace shoal {

// A record of a file: a row, a bad row, or no row (such as an empty line).
struct Record {
  absl::string_view bytes;  // valid until the next call
  uint64_t offset = 0;      // position of the record's first byte in the data
  uint64_t number = 0;      // from 1, counted from the piece's begin
  // The reason why the record is a bad row without being parsed (too long,
  // damaged); `bytes` is then empty. Empty for other records.
  std::string damage;
};

// SEAM: reads the records of one piece, in their order. Implementations:
// LineSource, TfRecordSource. Each record of a file is in exactly one of the
// pieces that cover the file. Thread-compatible.
class RecordSource {
 public:
  virtual ~RecordSource() = default;

  // Returns true with the next record, or false at the end. Errors: those of
  // the file; DATA_LOSS if the data is truncated or damaged so that no further
  // record can be found, or shorter than the piece; CANCELLED soon after
  // cancellation was requested.
  virtual absl::StatusOr<bool> Next(Record* record) = 0;

  // The position at which the next call continues.
  virtual uint64_t position() const = 0;

  // Moves to a value that position() returned before. The numbers of records
  // continue from the last one.
  virtual void Seek(uint64_t position) = 0;
};

}  // namespace shoal

#endif  // SHOAL_WORKER_DATA_RECORD_SOURCE_H_
