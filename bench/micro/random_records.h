#ifndef SHOAL_BENCH_MICRO_RANDOM_RECORDS_H_
#define SHOAL_BENCH_MICRO_RANDOM_RECORDS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/ids.h"
#include "ps/table/reserved_memory.h"

namespace shoal {

// The ceiling of a table: the rate at which one thread can read or update
// records of one size in random order. Uses huge pages, and prefetches 4, 8, 16
// or 32 records ahead, whichever is fastest.
class RandomRecords {
 public:
  // Makes `rows` records, `stride` bytes apart, and writes all of them once.
  // REQUIRES: `stride` is a multiple of 8 bytes.
  RandomRecords(uint64_t rows, size_t stride);

  using Batches = std::vector<std::vector<FeatureId>>;

  // Records a second of processor time. Read copies the first `bytes` of each
  // record to consecutive memory, as a pull does. Update rewrites every word of
  // each record without a change. Each goes over the batches once for every
  // prefetch distance.
  double ReadRate(const Batches& batches, size_t bytes) const;
  double UpdateRate(const Batches& batches) const;

 private:
  std::vector<std::vector<char*>> Records(const Batches& batches) const;

  const size_t stride_;
  const ReservedMemory memory_;
};

// The same for records anywhere in memory, given as batches of addresses: for
// the records of a table, whose memory may have other pages. An update rewrites
// every word without a change. REQUIRES: no other thread uses the records
// meanwhile.
using RecordBatches = std::vector<std::vector<char*>>;
double RecordReadRate(const RecordBatches& batches, size_t bytes);
double RecordUpdateRate(const RecordBatches& batches, size_t bytes);

}  // namespace shoal

#endif  // SHOAL_BENCH_MICRO_RANDOM_RECORDS_H_
