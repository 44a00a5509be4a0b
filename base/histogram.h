#ifndef SHOAL_BASE_HISTOGRAM_H_
#define SHOAL_BASE_HISTOGRAM_H_

#include <cstdint>
#include <map>
#include <optional>

namespace shoal {

// Counts of small non-negative integers (staleness, queue lengths). Values up
// to 1,023 are counted exactly. Larger values are counted in buckets 1/64 of a
// power of two wide and reported as the lower edge of their bucket (relative
// error below 1.6 %), so a histogram has at most a few thousand buckets.
// Thread-compatible.
class Histogram {
 public:
  // Makes a histogram from its parts, which another process sent. Returns
  // nullopt if no histogram has these parts: a key is not the edge of a bucket,
  // a count is 0, the counts exceed 64 bits, the maximum lies outside the last
  // bucket, or the sum does not fit the buckets.
  static std::optional<Histogram> FromParts(
      std::map<uint64_t, uint64_t> buckets, double sum, uint64_t max);

  void Add(uint64_t value, uint64_t count = 1);
  void Merge(const Histogram& other);

  uint64_t count() const { return count_; }
  double sum() const { return sum_; }
  double mean() const { return count_ == 0 ? 0 : sum_ / count_; }
  uint64_t max() const { return max_; }
  // Smallest value v with at least q * count() values <= v; 0 if empty.
  uint64_t Quantile(double q) const;
  // The count of each bucket by the bucket's lower edge, ascending.
  const std::map<uint64_t, uint64_t>& buckets() const { return buckets_; }

 private:
  std::map<uint64_t, uint64_t> buckets_;
  uint64_t count_ = 0;
  uint64_t max_ = 0;
  double sum_ = 0;
};

}  // namespace shoal

#endif  // SHOAL_BASE_HISTOGRAM_H_
