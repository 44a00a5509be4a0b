#ifndef SHOAL_REPORT_JOB_SUMMARY_H_
#define SHOAL_REPORT_JOB_SUMMARY_H_

#include <string>

#include "cluster/job_report.h"

namespace shoal {

// What the summary says of a job that its report does not.
struct JobFacts {
  std::string mode;
  std::string model;
  int ps = 0;
  int workers = 0;
  int pipeline_depth = 0;
};

// The run as one JSON object (docs/summary.md), indented, ended by a newline.
// The keys are the same in every mode and however the job ended; what is not
// known is null or 0.
std::string SummaryJson(const JobFacts& facts, const JobReport& report);

}  // namespace shoal

#endif  // SHOAL_REPORT_JOB_SUMMARY_H_
