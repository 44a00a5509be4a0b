#ifndef SHOAL_JOB_PROCESS_METRICS_H_
#define SHOAL_JOB_PROCESS_METRICS_H_

#include <memory>

#include "absl/status/statusor.h"
#include "base/metrics_server.h"
#include "base/telemetry.h"
#include "core/payload_bytes.h"
#include "launch/job_flags.h"
#include "ps/shard/parameter_shard.h"

namespace shoal {

// Metrics of a process that holds parts of a job, in addition to
// report/export_metrics.h.

// Exports the shard's counts, under the label shard="index". `telemetry` keeps
// the shard alive.
void ExportShard(Telemetry* telemetry, int index,
                 std::shared_ptr<const ParameterShard> shard);

// Exports the payload that the parameter server `index` exchanged with workers;
// null: zeros, since it has no network of its own. `bytes` outlives the
// telemetry's readers.
void ExportServerBytes(Telemetry* telemetry, int index,
                       const PayloadCounters* bytes);

// Serves metrics at --metrics_listen and --metrics_port; nullptr without a
// port. The objects that hooks of `telemetry` refer to must outlive the server.
// Errors: those of MetricsServer::Start.
absl::StatusOr<std::unique_ptr<MetricsServer>> StartMetricsServer(
    const JobFlags& flags, Telemetry* telemetry);

}  // namespace shoal

#endif  // SHOAL_JOB_PROCESS_METRICS_H_
