#ifndef SHOAL_BASE_HISTOGRAM_H_
#define SHOAL_BASE_HISTOGRAM_H_

#include <cstdint>
#include <map>
#include <optional>

namespace shoal {

// Counts of small non-negative integers (staleness, queue lengths). Values up
// to 1,023 are counted exactly, larger ones in buckets 1/64 of a power of two
// wide (relative error below 1.6 %, reported as the bucket's lower edge), so
// it holds at most a few thousand buckets. Thread-compatible.
class Histogram {
 public:
  // A histogram from another process by its parts; nullopt if no histogram has
  // them (an edge that is no bucket's, a count of 0, counts beyond 64 bits, a
  // maximum outside the last bucket, a sum that the buckets cannot have).
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
  // Lower edge of each bucket with its count, ascending.
  const std::map<uint64_t, uint64_t>& buckets() const { return buckets_; }

 private:
  std::map<uint64_t, uint64_t> buckets_;
  uint64_t count_ = 0;
  uint64_t max_ = 0;
  double sum_ = 0;
};

}  // namespace shoal

#endif  // SHOAL_BASE_HISTOGRAM_H_
