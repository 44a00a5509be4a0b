#include "checkpoint/block_checksums.h"

#include <algorithm>
#include <utility>

#include "base/crc32c.h"

namespace shoal {

void ChecksumStream::Append(absl::string_view bytes) {
  while (!bytes.empty()) {
    const uint64_t in_block = bytes_ % kChecksumBlockBytes;
    const absl::string_view part = bytes.substr(
        0, std::min<uint64_t>(bytes.size(), kChecksumBlockBytes - in_block));
    block_ = Crc32cExtend(block_, part);
    sums_.crc32c = Crc32cExtend(sums_.crc32c, part);
    bytes_ += part.size();
    bytes.remove_prefix(part.size());
    if (bytes_ % kChecksumBlockBytes == 0) {
      sums_.blocks.push_back(std::exchange(block_, 0));
    }
  }
}

TensorChecksums ChecksumStream::Finish() {
  if (bytes_ % kChecksumBlockBytes != 0) sums_.blocks.push_back(block_);
  return std::move(sums_);
}

}  // namespace shoal
