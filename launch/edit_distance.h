#ifndef SHOAL_LAUNCH_EDIT_DISTANCE_H_
#define SHOAL_LAUNCH_EDIT_DISTANCE_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace shoal {

// The smallest number of insertions, deletions, substitutions and swaps of
// neighbours that turn `a` into `b` (optimal string alignment). O(|a| |b|).
int EditDistance(absl::string_view a, absl::string_view b);

// The candidate nearest to `name`, the first one of several that are equally
// near; "" if no candidate is near enough to be what was meant. Near enough is
// a distance of at most 2, or of at most a third of the longer name's letters.
// '-' counts as '_'.
std::string NearestName(absl::string_view name,
                        const std::vector<std::string>& candidates);

}  // namespace shoal

#endif  // SHOAL_LAUNCH_EDIT_DISTANCE_H_
