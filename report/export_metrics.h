#ifndef SHOAL_REPORT_EXPORT_METRICS_H_
#define SHOAL_REPORT_EXPORT_METRICS_H_

#include <memory>
#include <string>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "base/metrics_server.h"
#include "base/telemetry.h"
#include "cluster/job_report.h"
#include "launch/job_flags.h"
#include "ps/shard/parameter_shard.h"

namespace shoal {

// What composition roots add to a Telemetry (docs/metrics.md lists it all).

// Who the process is, and its processor time and memory. `name` as in "ps 0".
void ExportProcess(Telemetry* telemetry, const std::string& name,
                   const std::string& job);

// The shard's counts, under the label shard="index". Calls of the metrics
// server hold the shard.
void ExportShard(Telemetry* telemetry, int index,
                 std::shared_ptr<const ParameterShard> shard);

// The job as the coordinator sees it. `report` is called on threads of the
// metrics server.
void ExportJob(Telemetry* telemetry, absl::AnyInvocable<JobReport()> report);

// Serves at --metrics_listen and --metrics_port; nullptr where there is no
// port. What hooks of `telemetry` refer to must outlive the server. Errors:
// those of MetricsServer::Start.
absl::StatusOr<std::unique_ptr<MetricsServer>> StartMetricsServer(
    const JobFlags& flags, Telemetry* telemetry);

}  // namespace shoal

#endif  // SHOAL_REPORT_EXPORT_METRICS_H_
