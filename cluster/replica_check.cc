#include "cluster/replica_check.h"

#include <map>

#include "absl/strings/str_cat.h"

namespace shoal {

absl::Status CheckReplicas(absl::Span<const PsReport> members) {
  std::map<int, const PsReport*> firsts;  // by shard
  for (const PsReport& ps : members) {
    const PsReport& first = *firsts.try_emplace(ps.shard, &ps).first->second;
    if (ps.stats.digest == first.stats.digest) continue;
    return absl::DataLossError(absl::StrCat(
        "ps ", first.index, " and ps ", ps.index, " hold copies of shard ",
        ps.shard, " with different weights: their digests are ",
        absl::Hex(first.stats.digest, absl::kZeroPad16), " and ",
        absl::Hex(ps.stats.digest, absl::kZeroPad16),
        "; they did not apply the same gradients"));
  }
  return absl::OkStatus();
}

}  // namespace shoal
