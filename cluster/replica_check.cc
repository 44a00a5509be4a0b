#include "cluster/replica_check.h"

#include <map>

#include "absl/strings/str_cat.h"
#include "core/registration.h"

namespace shoal {

std::string ReplicasDiffer(int shard, int rank, int other) {
  return absl::StrCat(ProcessName(Role::kWorker, rank), " and ",
                      ProcessName(Role::kWorker, other),
                      " hold copies of shard ", shard, " with different");
}

absl::Status CheckReplicas(absl::Span<const PsReport> members) {
  std::map<int, const PsReport*> firsts;  // by shard
  for (const PsReport& ps : members) {
    if (ps.lost) continue;
    const PsReport& first = *firsts.try_emplace(ps.shard, &ps).first->second;
    if (ps.stats.digest == first.stats.digest) continue;
    return absl::DataLossError(absl::StrCat(
        ReplicasDiffer(ps.shard, first.index - ps.shard, ps.index - ps.shard),
        " weights: their digests are ",
        absl::Hex(first.stats.digest, absl::kZeroPad16), " and ",
        absl::Hex(ps.stats.digest, absl::kZeroPad16),
        "; they did not apply the same gradients. ", kReplicasDifferAdvice));
  }
  return absl::OkStatus();
}

}  // namespace shoal
