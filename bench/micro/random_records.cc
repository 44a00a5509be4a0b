#include "bench/micro/random_records.h"

#include <algorithm>
#include <cstring>

#include "bench/micro/thread_cpu.h"

namespace shoal {

RandomRecords::RandomRecords(uint64_t rows, size_t stride)
    : stride_(stride), memory_(*ReservedMemory::Create(rows * stride)) {
  std::memset(memory_.data(), 1, rows * stride);
}

std::vector<std::vector<char*>> RandomRecords::Records(
    const Batches& batches) const {
  std::vector<std::vector<char*>> records(batches.size());
  for (size_t b = 0; b < batches.size(); ++b) {
    for (const FeatureId id : batches[b]) {
      records[b].push_back(memory_.data() + id * stride_);
    }
  }
  return records;
}

double RandomRecords::ReadRate(const Batches& batches, size_t bytes) const {
  return RecordReadRate(Records(batches), bytes);
}

double RandomRecords::UpdateRate(const Batches& batches) const {
  return RecordUpdateRate(Records(batches), stride_);
}

namespace {

template <typename Visit>
double BestRate(const RecordBatches& batches, size_t bytes,
                const Visit& visit) {
  double best = 0;
  for (const size_t ahead : {4, 8, 16, 32}) {
    size_t count = 0;
    const double start = ThreadCpuSeconds();
    for (const std::vector<char*>& records : batches) {
      count += records.size();
      for (size_t i = 0; i < records.size(); ++i) {
        const char* next = records[std::min(i + ahead, records.size() - 1)];
        for (size_t at = 0; at < bytes; at += 64) {
          __builtin_prefetch(next + at, 1);
        }
        __builtin_prefetch(next + bytes - 1, 1);
        visit(records[i], i);
      }
    }
    best = std::max(best,
                    static_cast<double>(count) / (ThreadCpuSeconds() - start));
  }
  return best;
}

}  // namespace

double RecordReadRate(const RecordBatches& batches, size_t bytes) {
  size_t most = 0;
  for (const auto& records : batches) most = std::max(most, records.size());
  std::vector<char> out(most * bytes);
  return BestRate(batches, bytes, [&](const char* record, size_t i) {
    std::memcpy(out.data() + i * bytes, record, bytes);
  });
}

double RecordUpdateRate(const RecordBatches& batches, size_t bytes) {
  return BestRate(batches, bytes, [&](char* record, size_t) {
    uint64_t* words = reinterpret_cast<uint64_t*>(record);
    for (size_t w = 0; w < bytes / sizeof(uint64_t); ++w) {
      uint64_t word = words[w];
      asm volatile("" : "+r"(word));  // a new value to the compiler
      words[w] = word;
    }
  });
}

}  // namespace shoal
