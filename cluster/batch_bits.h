#ifndef SHOAL_CLUSTER_BATCH_BITS_H_
#define SHOAL_CLUSTER_BATCH_BITS_H_

#include <bit>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace shoal {

// A set of batch indexes of one piece: bit i of byte i / 8 is batch i, as in
// Lease::skip. Holds no memory until something is set.
class BatchBits {
 public:
  // Whether a set in this form has batch i, and how many batches it has.
  static bool Has(absl::Span<const uint8_t> bytes, uint32_t i) {
    return i / 8 < bytes.size() && (bytes[i / 8] >> (i % 8) & 1);
  }
  static uint32_t Count(absl::Span<const uint8_t> bytes) {
    uint32_t count = 0;
    for (const uint8_t byte : bytes) count += std::popcount(byte);
    return count;
  }

  bool Get(uint32_t i) const { return Has(bytes_, i); }
  // Returns true if batch i was not in the set.
  bool Set(uint32_t i) {
    if (Get(i)) return false;
    if (i / 8 >= bytes_.size()) bytes_.resize(i / 8 + 1);
    bytes_[i / 8] |= static_cast<uint8_t>(1u << (i % 8));
    return true;
  }
  void Clear(uint32_t i) {
    if (Get(i)) bytes_[i / 8] &= static_cast<uint8_t>(~(1u << (i % 8)));
  }
  bool empty() const { return bytes_.empty(); }
  const std::vector<uint8_t>& bytes() const { return bytes_; }

 private:
  std::vector<uint8_t> bytes_;
};

}  // namespace shoal

#endif  // SHOAL_CLUSTER_BATCH_BITS_H_
