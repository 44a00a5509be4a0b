#include "bench/micro/random_records.h"

#include <algorithm>
#include <cstring>

#include "bench/micro/thread_cpu.h"

namespace shoal {

RandomRecords::RandomRecords(uint64_t rows, size_t stride)
    : stride_(stride), memory_(*ReservedMemory::Create(rows * stride)) {
  std::memset(memory_.data(), 1, rows * stride);
}

template <typename Visit>
double RandomRecords::BestRate(const Batches& batches, size_t bytes,
                               const Visit& visit) {
  double best = 0;
  for (const size_t ahead : {4, 8, 16, 32}) {
    size_t records = 0;
    const double start = ThreadCpuSeconds();
    for (const std::vector<FeatureId>& ids : batches) {
      records += ids.size();
      for (size_t i = 0; i < ids.size(); ++i) {
        const char* next =
            memory_.data() + ids[std::min(i + ahead, ids.size() - 1)] * stride_;
        for (size_t at = 0; at < bytes; at += 64) {
          __builtin_prefetch(next + at, 1);
        }
        __builtin_prefetch(next + bytes - 1, 1);
        visit(memory_.data() + ids[i] * stride_, i);
      }
    }
    best = std::max(
        best, static_cast<double>(records) / (ThreadCpuSeconds() - start));
  }
  return best;
}

double RandomRecords::ReadRate(const Batches& batches, size_t bytes) {
  size_t most = 0;
  for (const auto& ids : batches) most = std::max(most, ids.size());
  out_.resize(most * bytes);
  return BestRate(batches, bytes, [&](const char* record, size_t i) {
    std::memcpy(out_.data() + i * bytes, record, bytes);
  });
}

double RandomRecords::UpdateRate(const Batches& batches) {
  return BestRate(batches, stride_, [&](char* record, size_t) {
    uint64_t* words = reinterpret_cast<uint64_t*>(record);
    for (size_t w = 0; w < stride_ / sizeof(uint64_t); ++w) words[w] += 1;
  });
}

}  // namespace shoal
