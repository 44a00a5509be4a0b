#ifndef SHOAL_CHECKPOINT_BLOCK_CHECKSUMS_H_
#define SHOAL_CHECKPOINT_BLOCK_CHECKSUMS_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"

namespace shoal {

// A tensor's bytes are checked, written and read in blocks of 1 MiB, counted
// from its first byte; the last block may be shorter.
inline constexpr uint64_t kChecksumBlockBytes = uint64_t{1} << 20;

inline uint64_t ChecksumBlocks(uint64_t bytes) {
  return (bytes + kChecksumBlockBytes - 1) / kChecksumBlockBytes;
}

// The CRC-32C of a whole tensor and of each of its blocks.
struct TensorChecksums {
  uint32_t crc32c = 0;
  std::vector<uint32_t> blocks;

  friend bool operator==(const TensorChecksums&,
                         const TensorChecksums&) = default;
};

// Computes the checksums of a tensor whose bytes arrive part by part.
// Thread-compatible.
class ChecksumStream {
 public:
  void Append(absl::string_view bytes);
  uint64_t bytes() const { return bytes_; }
  // Returns the checksums of all bytes. Call once, at the end.
  TensorChecksums Finish();

 private:
  uint64_t bytes_ = 0;
  TensorChecksums sums_;
  uint32_t block_ = 0;
};

}  // namespace shoal

#endif  // SHOAL_CHECKPOINT_BLOCK_CHECKSUMS_H_
