#include "cluster/canary_check.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace shoal {

absl::Status CheckCanaries(absl::Span<const PsReport> members,
                           uint64_t applied) {
  const bool none = std::none_of(
      members.begin(), members.end(),
      [](const PsReport& ps) { return ps.stats.canary.has_value(); });
  if (none) return absl::OkStatus();
  for (const PsReport& ps : members) {
    if (ps.lost) continue;
    if (!ps.stats.canary.has_value()) {
      return absl::DataLossError(
          absl::StrCat("ps ", ps.index, " reports no canaries; others do"));
    }
    const CanaryStats& canary = *ps.stats.canary;
    if (canary.rows != applied || canary.not_one != 0) {
      return absl::DataLossError(absl::StrCat(
          "ps ", ps.index, " has canaries of ", canary.rows, " batches, ",
          canary.not_one, " of them not 1 (from ", canary.smallest, " to ",
          canary.largest, "), and ", applied,
          " batches were applied: pushes were lost or applied more than once"));
    }
    if (canary.foreign != 0) {
      return absl::DataLossError(absl::StrCat(
          "ps ", ps.index, " has canaries of ", canary.foreign,
          " batches whose push came from a worker of another start of the job: "
          "the weights are not this job's alone"));
    }
  }
  return absl::OkStatus();
}

}  // namespace shoal
