#ifndef SHOAL_CLUSTER_REPLICA_CHECK_H_
#define SHOAL_CLUSTER_REPLICA_CHECK_H_

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "cluster/job_report.h"

namespace shoal {

// Compares, at the end of a job, the copies of each shard that several members
// hold: they applied the same gradients in the same order, so the digests of
// their weights (StatsReply::digest) are equal. OK too if no shard has copies.
// DATA_LOSS names the shard, the first member of the shard, the member that
// differs from it, and both digests.
absl::Status CheckReplicas(absl::Span<const PsReport> members);

}  // namespace shoal

#endif  // SHOAL_CLUSTER_REPLICA_CHECK_H_
