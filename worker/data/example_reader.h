#ifndef SHOAL_WORKER_DATA_EXAMPLE_READER_H_
#define SHOAL_WORKER_DATA_EXAMPLE_READER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "base/check.h"
#include "worker/data/bad_rows.h"
#include "worker/data/batch.h"
#include "worker/data/record_parser.h"
#include "worker/data/record_source.h"

namespace shoal {

// SEAM: reads the rows of one piece of any format, in the piece's order.
// Implementations: SerialExampleReader, ParallelExampleReader.
// Thread-compatible.
class ExampleReader {
 public:
  virtual ~ExampleReader() = default;

  // Appends the next rows to *rows until it holds `most` rows or the piece
  // ends. Records that are not rows take no place, except that a reader with a
  // bad_row_label appends each bad row as a row of this label without features.
  // All bad rows also go to *bad, unless it is nullptr, in the call that
  // reaches them. Errors: those of the records and of *bad.
  virtual absl::Status ReadRows(uint32_t most, ExampleBatch* rows,
                                BadRowSink* bad) = 0;

  // The position at which the next ReadRows continues; Seek returns to it.
  // REQUIRES: CanSeek().
  virtual bool CanSeek() const = 0;
  virtual uint64_t position() const = 0;
  virtual void Seek(uint64_t position) = 0;
};

// Reads and parses one record after another on the caller's thread.
class SerialExampleReader final : public ExampleReader {
 public:
  SerialExampleReader(std::unique_ptr<RecordSource> records,
                      std::unique_ptr<RecordParser> parser,
                      std::optional<uint8_t> bad_row_label = std::nullopt)
      : records_(std::move(records)),
        parser_(std::move(parser)),
        bad_row_label_(bad_row_label) {}

  absl::Status ReadRows(uint32_t most, ExampleBatch* rows,
                        BadRowSink* bad) override;
  bool CanSeek() const override { return true; }
  uint64_t position() const override { return records_->position(); }
  void Seek(uint64_t position) override {
    SHOAL_DCHECK(CanSeek());
    records_->Seek(position);
  }

 private:
  const std::unique_ptr<RecordSource> records_;
  const std::unique_ptr<RecordParser> parser_;
  const std::optional<uint8_t> bad_row_label_;
  Record record_;
  BadRow bad_;
};

}  // namespace shoal

#endif  // SHOAL_WORKER_DATA_EXAMPLE_READER_H_
