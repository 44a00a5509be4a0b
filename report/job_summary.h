#ifndef SHOAL_REPORT_JOB_SUMMARY_H_
#define SHOAL_REPORT_JOB_SUMMARY_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "base/json_writer.h"
#include "cluster/job_report.h"
#include "report/compute_facts.h"

namespace shoal {

// Facts of a job that are in the summary but not in the job's report.
struct JobFacts {
  std::string mode;
  std::string model;
  int ps = 0;
  int workers = 0;
  int pipeline_depth = 0;
  std::string version;  // of the program, as in "0.5.0"; empty: not known
  std::string host;  // name of this process's host; empty: not known
  // The flags that were given, with their values as they are typed.
  std::vector<std::pair<std::string, std::string>> flags;
  // When the process with the coordinator began the job; InfinitePast: not
  // known.
  absl::Time start = absl::InfinitePast();
  ComputeFacts compute;
};

// The run as one JSON object (docs/summary.md). If it is indented, there is a
// newline at its end. The keys are the same in every mode and for every end of
// a job, except those of `flags`; values that are not known are null or 0. The
// start is in the zone of this process.
std::string SummaryJson(const JobFacts& facts, const JobReport& report,
                        JsonLayout layout = JsonLayout::kIndented);

}  // namespace shoal

#endif  // SHOAL_REPORT_JOB_SUMMARY_H_
