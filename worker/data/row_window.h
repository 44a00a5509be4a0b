#ifndef SHOAL_WORKER_DATA_ROW_WINDOW_H_
#define SHOAL_WORKER_DATA_ROW_WINDOW_H_

#include <cstddef>
#include <cstdint>

#include "worker/data/batch.h"

namespace shoal {

// Appends example `row` of `from` to *to.
void AppendRow(const ExampleBatch& from, uint32_t row, ExampleBatch* to);

// Appends an example without features.
inline void AppendEmptyRow(uint8_t label, ExampleBatch* to) {
  to->labels.push_back(label);
  to->offsets.push_back(to->offsets.back());
}

// Prefetches the memory of example `row`. Call it some rows before the row is
// appended.
void PrefetchRow(const ExampleBatch& from, uint32_t row);

// Appends the examples [begin, end) of `from` to *to.
void AppendRange(const ExampleBatch& from, size_t begin, size_t end,
                 ExampleBatch* to);

// CRC-32C of the labels, offsets, ids, values and fields of the examples.
uint32_t RowsCrc32c(const ExampleBatch& rows);

}  // namespace shoal

#endif  // SHOAL_WORKER_DATA_ROW_WINDOW_H_
