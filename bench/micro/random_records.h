#ifndef SHOAL_BENCH_MICRO_RANDOM_RECORDS_H_
#define SHOAL_BENCH_MICRO_RANDOM_RECORDS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/ids.h"
#include "ps/table/reserved_memory.h"

namespace shoal {

// The ceiling of a table: what the memory itself gives to one thread that reads
// or updates records of a size in a random order, with huge pages, and with
// prefetch as far ahead as serves it best of 4, 8, 16 and 32 records.
class RandomRecords {
 public:
  // `rows` records, `stride` bytes apart, all of them written once. REQUIRES:
  // a stride of whole 8-byte words.
  RandomRecords(uint64_t rows, size_t stride);

  using Batches = std::vector<std::vector<FeatureId>>;

  // Records a second of processor time. Read: the first `bytes` of each are
  // copied to consecutive memory, as a pull leaves them. Update: every word of
  // the stride is written as it was. Each goes over the batches once for every
  // distance.
  double ReadRate(const Batches& batches, size_t bytes) const;
  double UpdateRate(const Batches& batches) const;

 private:
  std::vector<std::vector<char*>> Records(const Batches& batches) const;

  const size_t stride_;
  const ReservedMemory memory_;
};

// The same of records wherever they lie, in batches of their addresses: of a
// table's own, whose memory the system may have given in other pages. An update
// writes every word as it was. Nobody else uses them meanwhile.
using RecordBatches = std::vector<std::vector<char*>>;
double RecordReadRate(const RecordBatches& batches, size_t bytes);
double RecordUpdateRate(const RecordBatches& batches, size_t bytes);

}  // namespace shoal

#endif  // SHOAL_BENCH_MICRO_RANDOM_RECORDS_H_
