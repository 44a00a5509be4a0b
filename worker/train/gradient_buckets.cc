#include "worker/train/gradient_buckets.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/check.h"

namespace shoal {
namespace {

void CutRegion(DenseRange region, size_t bucket_floats,
               std::vector<DenseRange>* buckets) {
  const size_t size = region.end - region.begin;
  const size_t count = (size + bucket_floats - 1) / bucket_floats;
  for (size_t b = 0; b < count; ++b) {
    // The first (size mod count) buckets have one element more.
    const size_t at = region.begin + b * (size / count) +
                      std::min(b, size % count);
    const size_t length = size / count + (b < size % count ? 1 : 0);
    buckets->push_back({at, at + length});
  }
}

void CutLastRegion(DenseRange region, size_t bucket_floats, size_t least,
                   std::vector<DenseRange>* buckets) {
  while (region.begin < region.end) {
    const size_t rest = region.end - region.begin;
    const size_t length =
        rest < 2 * least ? rest : std::min(bucket_floats, rest / 2);
    buckets->push_back({region.begin, region.begin + length});
    region.begin += length;
  }
}

}  // namespace

std::vector<DenseRange> GradientBuckets(absl::Span<const size_t> sizes,
                                        size_t bucket_floats) {
  SHOAL_DCHECK(bucket_floats >= 1);
  const size_t least = std::max<size_t>(1, bucket_floats / 4);
  std::vector<DenseRange> buckets;
  const size_t all = std::accumulate(sizes.begin(), sizes.end(), size_t{0});
  DenseRange region{all, all};
  const auto end_region = [&] {
    CutRegion(region, bucket_floats, &buckets);
    region.end = region.begin;
  };
  for (size_t v = sizes.size(); v-- > 0;) {
    if (region.end - region.begin >= bucket_floats ||
        (region.end - region.begin >= least && sizes[v] >= bucket_floats)) {
      end_region();
    }
    region.begin -= sizes[v];
  }
  CutLastRegion(region, bucket_floats, least, &buckets);
  return buckets;
}

FinalBuckets::FinalBuckets(std::vector<DenseRange> buckets)
    : buckets_(std::move(buckets)) {
  Reset();
}

void FinalBuckets::Reset() {
  missing_.clear();
  for (const DenseRange& bucket : buckets_) {
    missing_.push_back(bucket.end - bucket.begin);
  }
  next_ = 0;
}

void FinalBuckets::Add(DenseRange range) {
  for (size_t b = next_; b < buckets_.size(); ++b) {
    const size_t begin = std::max(range.begin, buckets_[b].begin);
    const size_t end = std::min(range.end, buckets_[b].end);
    if (begin >= end) continue;
    SHOAL_DCHECK(end - begin <= missing_[b]);
    missing_[b] -= end - begin;
  }
}

std::optional<size_t> FinalBuckets::Take() {
  if (next_ == buckets_.size() || missing_[next_] > 0) return std::nullopt;
  return next_++;
}

std::optional<size_t> FinalBuckets::TakeAny() {
  if (next_ == buckets_.size()) return std::nullopt;
  return next_++;
}

}  // namespace shoal
