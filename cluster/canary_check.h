#ifndef SHOAL_CLUSTER_CANARY_CHECK_H_
#define SHOAL_CLUSTER_CANARY_CHECK_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "cluster/job_report.h"

namespace shoal {

// Compares the ledger, at the end of a job, with canaries that do not depend on
// it (core/canary.h). Every PS must have a canary for each of the `applied`
// batches, each must be exactly 1, and no push may have come from a worker of
// another start of the job. Every copy of a replicated shard is checked, except
// copies that were lost on the way. OK too if no PS has canaries. DATA_LOSS
// names the PS, the value found and the value expected.
absl::Status CheckCanaries(absl::Span<const PsReport> members,
                           uint64_t applied);

}  // namespace shoal

#endif  // SHOAL_CLUSTER_CANARY_CHECK_H_
