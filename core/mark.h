#ifndef SHOAL_CORE_MARK_H_
#define SHOAL_CORE_MARK_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/ids.h"

namespace shoal {

// What a shard says of a batch that was pushed to it.
enum class Verdict : uint8_t {
  kApplied = 1,
  kRejected = 2,  // not sound, says the worker or the shard itself: nothing
                  // was changed, the batch is marked so
};

// A shard's mark: the verdict on a batch and the pass that it came from.
struct Mark {
  BatchId batch;
  Verdict verdict = Verdict::kApplied;
  uint64_t lease = 0;
  // Not a new mark: a copy of a marked batch came from another pass, `lease`.
  bool repeat = false;
};

// The marks of one MarkDelta at most: more travel as several. A mark takes at
// most 36 bytes on the wire, so a message stays below 5 MiB.
inline constexpr size_t kMarksPerDelta = 128 << 10;

// Marks in the order in which the shard made them, none left out or repeated.
struct MarkDelta {
  std::vector<Mark> marks;
  uint64_t repeats_refused = 0;  // all so far
};

// The same as messages of at most kMarksPerDelta marks, in order; at least one.
std::vector<MarkDelta> SplitMarks(MarkDelta delta);

}  // namespace shoal

#endif  // SHOAL_CORE_MARK_H_
