#include "core/mark.h"

#include <algorithm>
#include <utility>

namespace shoal {

std::vector<MarkDelta> SplitMarks(MarkDelta delta) {
  std::vector<MarkDelta> parts;
  if (delta.marks.size() <= kMarksPerDelta) {
    parts.push_back(std::move(delta));
    return parts;
  }
  for (size_t begin = 0; begin < delta.marks.size(); begin += kMarksPerDelta) {
    const size_t end = std::min(delta.marks.size(), begin + kMarksPerDelta);
    MarkDelta& part = parts.emplace_back();
    part.marks.assign(delta.marks.begin() + static_cast<ptrdiff_t>(begin),
                      delta.marks.begin() + static_cast<ptrdiff_t>(end));
    part.repeats_refused = delta.repeats_refused;
  }
  return parts;
}

}  // namespace shoal
