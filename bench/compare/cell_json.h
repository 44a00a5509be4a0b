#ifndef SHOAL_BENCH_COMPARE_CELL_JSON_H_
#define SHOAL_BENCH_COMPARE_CELL_JSON_H_

#include "base/json_reader.h"
#include "base/json_writer.h"
#include "bench/compare/cell.h"

namespace shoal {

// A cell with its runs as one JSON object, as compare.json and the files of
// runs have it (docs/comparing.md). ReadCell gives back what WriteCell wrote.
void WriteCell(const Cell& cell, JsonWriter* w);

// A value that cannot be is the document's error (base/json_reader.h).
Cell ReadCell(const JsonNode& node);

}  // namespace shoal

#endif  // SHOAL_BENCH_COMPARE_CELL_JSON_H_
