#ifndef SHOAL_BENCH_COMPARE_BYTE_FORMULA_H_
#define SHOAL_BENCH_COMPARE_BYTE_FORMULA_H_

#include "bench/compare/cell.h"

namespace shoal {

// The bytes that a step sends by its formula (docs/benchmarking.md): without
// headers of frames and messages.

// A cell's payload bytes a sample, if a batch of a worker has `batch` samples
// and `rows` distinct ids, with D the bytes of all dense variables, F floats a
// row, N workers:
//   ring         2 (N - 1) / N x D + (N - 1) x rows x (8 + 4 F), each way
//   hybrid       the first term each way; rows as with servers
//   with servers a worker sends D, an id a row to pull, and an id with its
//                gradient a row to push; it receives D and a row for each id
// With b backup workers N batches are sent for N - b that count, unless a
// worker is so slow that it has no batch ready when its step ends.
RoleBytes FormulaOf(const Cell& cell, const ComparedModel& model, double batch,
                    double rows);

}  // namespace shoal

#endif  // SHOAL_BENCH_COMPARE_BYTE_FORMULA_H_
