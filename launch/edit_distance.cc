#include "launch/edit_distance.h"

#include <algorithm>

#include "absl/strings/str_replace.h"

namespace shoal {

int EditDistance(absl::string_view a, absl::string_view b) {
  // Row i holds the distances of a's first i letters to every prefix of b.
  std::vector<int> before_last(b.size() + 1);
  std::vector<int> last(b.size() + 1);
  std::vector<int> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) last[j] = static_cast<int>(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = static_cast<int>(i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const int substitute = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, substitute});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before_last[j - 2] + 1);
      }
    }
    before_last.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

std::string NearestName(absl::string_view name,
                        const std::vector<std::string>& candidates) {
  const std::string wanted = absl::StrReplaceAll(name, {{"-", "_"}});
  std::string nearest;
  int nearest_distance = 0;
  for (const std::string& candidate : candidates) {
    const int distance = EditDistance(wanted, candidate);
    const size_t longer = std::max(wanted.size(), candidate.size());
    if (distance > std::max<int>(2, static_cast<int>(longer / 3))) continue;
    if (nearest.empty() || distance < nearest_distance) {
      nearest = candidate;
      nearest_distance = distance;
    }
  }
  return nearest;
}

}  // namespace shoal
