#ifndef SHOAL_WORKER_DATA_FORMAT_TABLE_H_
#define SHOAL_WORKER_DATA_FORMAT_TABLE_H_

#include <atomic>
#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/data_format.h"
#include "core/id_kind.h"
#include "worker/data/byte_source.h"
#include "worker/data/example_options.h"
#include "worker/data/record_parser.h"
#include "worker/data/record_source.h"

namespace shoal {

// Everything that Shoal knows about one format of rows. To add a format, add a
// row to the table in format_table.cc and its name to core/data_format.h. A
// format is either of lines or of bytes.
struct DataFormatKind {
  DataFormat format;
  // The format and its mark, for the message that a file has no known format,
  // as in "Criteo (40 columns)".
  const char* mark;
  IdKind ids;  // the kind of ids of its rows; not kUnknown
  // A format of lines: true if a line, which is neither blank nor a comment,
  // looks like a row. nullptr: the format is one of bytes.
  bool (*is_row)(absl::string_view line);
  // A format of bytes: true if `head`, the first bytes of a file or all of
  // them, begins such a file, whatever length it has. nullptr: the format is
  // one of lines.
  bool (*is_head)(absl::string_view head);
  // Checks that the options fit the format. INVALID_ARGUMENT names the flag.
  absl::Status (*check)(const ExampleOptions& options);
  // Makes the reader of the records in [begin, end). `cancelled` may be
  // nullptr, and must outlive the source.
  std::unique_ptr<RecordSource> (*new_source)(
      std::unique_ptr<ByteSource> bytes, uint64_t begin, uint64_t end,
      const ExampleOptions& options, const std::atomic<bool>* cancelled);
  // Makes a parser of records. REQUIRES: check(options) is OK.
  std::unique_ptr<RecordParser> (*new_parser)(const ExampleOptions& options);

  bool lines() const { return is_row != nullptr; }
};

// All formats, in the order in which a file is compared with them.
absl::Span<const DataFormatKind> DataFormatKinds();

// The row of `format`. REQUIRES: `format` is not kAuto.
const DataFormatKind& KindOf(DataFormat format);

}  // namespace shoal

#endif  // SHOAL_WORKER_DATA_FORMAT_TABLE_H_
