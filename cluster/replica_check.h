#ifndef SHOAL_CLUSTER_REPLICA_CHECK_H_
#define SHOAL_CLUSTER_REPLICA_CHECK_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "cluster/job_report.h"

namespace shoal {

// The beginning of a message about two copies of a shard, which two ranks hold:
// "worker 0 and worker 2 hold copies of shard 0 with different"; what differs
// follows.
std::string ReplicasDiffer(int shard, int rank, int other);
// The end of it: what a user can do.
inline constexpr absl::string_view kReplicasDifferAdvice =
    "Start the job again: it goes on from its newest checkpoint, if there is "
    "one, at which all copies had the same batches";

// Compares, at the end of a job, the copies of each shard that several members
// hold: they applied the same gradients in the same order, so the digests of
// their weights (StatsReply::digest) are equal. Copies that were lost on the
// way are left out. OK too if no shard has copies. DATA_LOSS names the shard,
// the rank of its first member that is left, the rank whose copy differs from
// that one, and both digests.
absl::Status CheckReplicas(absl::Span<const PsReport> members);

}  // namespace shoal

#endif  // SHOAL_CLUSTER_REPLICA_CHECK_H_
