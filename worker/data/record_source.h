#ifndef SHOAL_WORKER_DATA_RECORD_SOURCE_H_
#define SHOAL_WORKER_DATA_RECORD_SOURCE_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace shoal {

// What holds one row, or none, or a bad one.
struct Record {
  absl::string_view bytes;  // valid until the next call
  uint64_t offset = 0;      // of its first byte in the data
  uint64_t number = 0;      // from 1, among those since the piece's begin
  // Why it is a bad row whatever a parser would say (too long, damaged);
  // `bytes` is empty then. Empty: it is whole.
  std::string damage;
};

// SEAM: the records of one piece, in their order. Implementations: LineSource,
// TfRecordSource. Each record of a file is in exactly one of the pieces which
// cover it. Thread-compatible.
class RecordSource {
 public:
  virtual ~RecordSource() = default;

  // True with the next record, false at the end. Errors: those of the file;
  // DATA_LOSS if the data is cut or damaged so that no further record can be
  // found, or shorter than the piece; CANCELLED soon after it was asked for.
  virtual absl::StatusOr<bool> Next(Record* record) = 0;

  // Where the next call goes on.
  virtual uint64_t position() const = 0;

  // Goes back or forth to a position() that was seen. Numbers of records go on
  // from where they were.
  virtual void Seek(uint64_t position) = 0;
};

}  // namespace shoal

#endif  // SHOAL_WORKER_DATA_RECORD_SOURCE_H_
