#ifndef SHOAL_REPORT_EXPORT_METRICS_H_
#define SHOAL_REPORT_EXPORT_METRICS_H_

#include <string>

#include "absl/functional/any_invocable.h"
#include "base/telemetry.h"
#include "cluster/job_report.h"

namespace shoal {

// Metrics that mains add to a Telemetry. docs/metrics.md lists all metrics.

// Exports the name of the process, as in "ps 0", the label of its job, and its
// processor time and memory.
void ExportProcess(Telemetry* telemetry, const std::string& name,
                   const std::string& job);

// Exports the job as the coordinator sees it. `report` is called on threads of
// the metrics server.
void ExportJob(Telemetry* telemetry, absl::AnyInvocable<JobReport()> report);

}  // namespace shoal

#endif  // SHOAL_REPORT_EXPORT_METRICS_H_
