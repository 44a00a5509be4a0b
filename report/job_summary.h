#ifndef SHOAL_REPORT_JOB_SUMMARY_H_
#define SHOAL_REPORT_JOB_SUMMARY_H_

#include <string>

#include "cluster/job_report.h"

namespace shoal {

// Facts of a job that are in the summary but not in the job's report.
struct JobFacts {
  std::string mode;
  std::string model;
  int ps = 0;
  int workers = 0;
  int pipeline_depth = 0;
};

// The run as one JSON object (docs/summary.md), indented, with a newline at the
// end. The keys are the same in every mode and for every end of a job; values
// that are not known are null or 0.
std::string SummaryJson(const JobFacts& facts, const JobReport& report);

}  // namespace shoal

#endif  // SHOAL_REPORT_JOB_SUMMARY_H_
