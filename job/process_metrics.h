#ifndef SHOAL_JOB_PROCESS_METRICS_H_
#define SHOAL_JOB_PROCESS_METRICS_H_

#include <memory>

#include "absl/status/statusor.h"
#include "base/metrics_server.h"
#include "base/telemetry.h"
#include "launch/job_flags.h"
#include "ps/shard/parameter_shard.h"

namespace shoal {

// What a process that holds parts of a job adds to report/export_metrics.h.

// The shard's counts, under the label shard="index". Calls of the metrics
// server hold the shard.
void ExportShard(Telemetry* telemetry, int index,
                 std::shared_ptr<const ParameterShard> shard);

// Serves at --metrics_listen and --metrics_port; nullptr where there is no
// port. What hooks of `telemetry` refer to must outlive the server. Errors:
// those of MetricsServer::Start.
absl::StatusOr<std::unique_ptr<MetricsServer>> StartMetricsServer(
    const JobFlags& flags, Telemetry* telemetry);

}  // namespace shoal

#endif  // SHOAL_JOB_PROCESS_METRICS_H_
