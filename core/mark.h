#ifndef SHOAL_CORE_MARK_H_
#define SHOAL_CORE_MARK_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/ids.h"

namespace shoal {

// A shard's verdict on a batch that was pushed to it.
enum class Verdict : uint8_t {
  kApplied = 1,
  kRejected = 2,  // the worker or the shard found the gradient not sound:
                  // nothing was changed, and the batch is marked
};

// A shard's mark: the verdict on a batch, and the forward pass that the
// gradient came from.
struct Mark {
  BatchId batch;
  Verdict verdict = Verdict::kApplied;
  uint64_t lease = 0;
  // True if this is not a new mark: a copy of a marked batch came from another
  // forward pass, that of `lease`.
  bool repeat = false;
};

// The most marks of one MarkDelta; more marks travel as several messages. A
// mark takes at most 36 bytes on the wire, so a message stays below 5 MiB.
inline constexpr size_t kMarksPerDelta = 128 << 10;

// Marks in the order in which the shard made them. No mark is left out or
// repeated.
struct MarkDelta {
  std::vector<Mark> marks;
  uint64_t repeats_refused = 0;  // total so far
};

// Splits `delta` into messages of at most kMarksPerDelta marks, in order; at
// least one message.
std::vector<MarkDelta> SplitMarks(MarkDelta delta);

}  // namespace shoal

#endif  // SHOAL_CORE_MARK_H_
