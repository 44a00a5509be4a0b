#ifndef SHOAL_BENCH_MICRO_BENCH_ROWS_H_
#define SHOAL_BENCH_MICRO_BENCH_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/ids.h"
#include "worker/data/data_format.h"

namespace shoal {

// Rows of a planted model (datatools/planted_model.h). A row has 39 features;
// the values of 13 of them are decimals of four digits.
inline constexpr uint64_t kBenchIds = 1'000'000;
inline constexpr int kBenchFields = 39;
inline constexpr int kBenchRows = 60'000;

// The first kBenchRows rows as a file of a format: LibSVM, TFRecord, or lines
// as Criteo publishes them (13 integers, of which some are missing, and 26
// categories of eight hexadecimal digits). Each file is made at the first call
// and never freed. REQUIRES: the format is not kAuto.
const std::string& BenchFileBytes(DataFormat format);

// The ids of several batches of rows, with their repetitions.
std::vector<std::vector<FeatureId>> BenchRowIds(size_t batches, size_t rows);

}  // namespace shoal

#endif  // SHOAL_BENCH_MICRO_BENCH_ROWS_H_
