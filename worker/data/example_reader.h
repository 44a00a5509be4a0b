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

// SEAM: the rows of one piece, in its order, whatever its format.
// Implementations: SerialExampleReader, ParallelExampleReader.
// Thread-compatible.
class ExampleReader {
 public:
  virtual ~ExampleReader() = default;

  // Appends the next rows to *rows until it holds `most` or the piece ends.
  // Records that are no rows take no place, but for bad ones of a reader that
  // was given a bad_row_label: they are rows of this label without features.
  // All bad ones go to *bad, where that is not nullptr, in the call that comes
  // to them. Errors: those of the records and of *bad.
  virtual absl::Status ReadRows(uint32_t most, ExampleBatch* rows,
                                BadRowSink* bad) = 0;

  // Where the next call goes on, and how to go back there.
  // REQUIRES: CanSeek().
  virtual bool CanSeek() const = 0;
  virtual uint64_t position() const = 0;
  virtual void Seek(uint64_t position) = 0;
};

// Reads and parses on the caller's thread, a record at a time.
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
