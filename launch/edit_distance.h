#ifndef SHOAL_LAUNCH_EDIT_DISTANCE_H_
#define SHOAL_LAUNCH_EDIT_DISTANCE_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace shoal {

// Fewest insertions, deletions, substitutions and swaps of neighbours that turn
// `a` into `b` (optimal string alignment). O(|a| |b|).
int EditDistance(absl::string_view a, absl::string_view b);

// The candidate nearest to `name` if it is near enough to be what was meant (a
// third of the longer one's letters, at least 2, may differ), otherwise "". The
// first of equals. '-' counts as '_'.
std::string NearestName(absl::string_view name,
                        const std::vector<std::string>& candidates);

}  // namespace shoal

#endif  // SHOAL_LAUNCH_EDIT_DISTANCE_H_
