#include "base/histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

namespace shoal {
namespace {

uint64_t BucketOf(uint64_t value) {
  if (value < 1024) return value;
  const int drop = std::bit_width(value) - 7;  // keeps 7 leading bits
  return value >> drop << drop;
}

}  // namespace

std::optional<Histogram> Histogram::FromParts(
    std::map<uint64_t, uint64_t> buckets, double sum, uint64_t max) {
  Histogram result;
  double least = 0;  // sum of the lower edges
  for (const auto& [edge, count] : buckets) {
    if (edge != BucketOf(edge) || count == 0) return std::nullopt;
    if (result.count_ + count < count) return std::nullopt;
    result.count_ += count;
    least += static_cast<double>(edge) * static_cast<double>(count);
  }
  const uint64_t last = buckets.empty() ? 0 : buckets.rbegin()->first;
  if (buckets.empty() ? max != 0 : BucketOf(max) != last) return std::nullopt;
  // A value lies less than 1/64 above its bucket's edge; 1e-6 is for rounding.
  const bool sum_fits =
      sum >= least * (1 - 1e-6) && sum <= least * (1 + 1.0 / 64) * (1 + 1e-6);
  if (!sum_fits) return std::nullopt;
  result.buckets_ = std::move(buckets);
  result.max_ = max;
  result.sum_ = sum;
  return result;
}

void Histogram::Add(uint64_t value, uint64_t count) {
  if (count == 0) return;
  buckets_[BucketOf(value)] += count;
  count_ += count;
  max_ = std::max(max_, value);
  sum_ += static_cast<double>(value) * static_cast<double>(count);
}

void Histogram::Merge(const Histogram& other) {
  for (const auto& [value, count] : other.buckets_) buckets_[value] += count;
  count_ += other.count_;
  max_ = std::max(max_, other.max_);
  sum_ += other.sum_;
}

uint64_t Histogram::Quantile(double q) const {
  const uint64_t need = std::max<uint64_t>(
      1, static_cast<uint64_t>(std::ceil(q * static_cast<double>(count_))));
  uint64_t seen = 0;
  for (const auto& [value, count] : buckets_) {
    seen += count;
    if (seen >= need) return value;
  }
  return 0;
}

}  // namespace shoal
