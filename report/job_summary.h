#ifndef SHOAL_REPORT_JOB_SUMMARY_H_
#define SHOAL_REPORT_JOB_SUMMARY_H_

#include <string>

#include "cluster/job_report.h"
#include "launch/job_flags.h"

namespace shoal {

// The run as one JSON object (docs/summary.md), indented, ended by a newline.
// The keys are the same in every mode and however the job ended; what is not
// known is null or 0.
std::string SummaryJson(const JobFlags& flags, const JobReport& report);

}  // namespace shoal

#endif  // SHOAL_REPORT_JOB_SUMMARY_H_
