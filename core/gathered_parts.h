#ifndef SHOAL_CORE_GATHERED_PARTS_H_
#define SHOAL_CORE_GATHERED_PARTS_H_

#include <cstddef>
#include <vector>

#include "absl/types/span.h"
#include "base/aligned_buffer.h"

namespace shoal {

// The bytes that an AllGather brings, a part for each rank. Use one object for
// many operations: its memory is kept and grows to the largest part of each
// rank. Thread-compatible.
class GatheredParts {
 public:
  // The number of ranks; 0 before the first operation.
  int size() const { return static_cast<int>(parts_.size()); }
  // The bytes of a rank. Another rank's part begins on a 64-byte boundary and
  // is valid until the next operation. The own rank's part is the caller's own
  // span. REQUIRES: 0 <= rank < size().
  absl::Span<const char> part(int rank) const;

  // For implementations of Collective: makes all parts empty.
  void Reset(int ranks);
  // Makes room for a part, which has no value until written. Returns the room.
  absl::Span<char> Allocate(int rank, size_t bytes);
  // Lets a part be the caller's own bytes.
  void Refer(int rank, absl::Span<const char> bytes);

 private:
  std::vector<AlignedBuffer<char>> buffers_;
  std::vector<absl::Span<const char>> parts_;
};

}  // namespace shoal

#endif  // SHOAL_CORE_GATHERED_PARTS_H_
