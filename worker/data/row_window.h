#ifndef SHOAL_WORKER_DATA_ROW_WINDOW_H_
#define SHOAL_WORKER_DATA_ROW_WINDOW_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "worker/data/batch.h"
#include "worker/data/libsvm_parser.h"
#include "worker/data/line_source.h"

namespace shoal {

// What a reader met that was no row.
struct BadRows {
  uint64_t count = 0;
  uint64_t first_number = 0;  // line of the first, as LineSource counts
  uint64_t first_offset = 0;  // in the file
  std::string first_reason;
};

// Appends the rows of the next lines to *rows until it holds `most` or the
// lines end; counts bad ones in *bad. Bad rows take no place in the window, so
// that batches are full.
absl::Status ReadRows(LineSource* lines, LibSvmParser* parser, uint32_t most,
                      uint64_t max_line_bytes, ExampleBatch* rows,
                      BadRows* bad);

// Appends example `row` of `from` to *to.
void AppendRow(const ExampleBatch& from, uint32_t row, ExampleBatch* to);

// Asks for the memory of example `row`, some rows before it is appended.
void PrefetchRow(const ExampleBatch& from, uint32_t row);

// Appends all of `from` to *to.
void AppendRows(const ExampleBatch& from, ExampleBatch* to);

}  // namespace shoal

#endif  // SHOAL_WORKER_DATA_ROW_WINDOW_H_
