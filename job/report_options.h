#ifndef SHOAL_JOB_REPORT_OPTIONS_H_
#define SHOAL_JOB_REPORT_OPTIONS_H_

#include "base/file_system.h"
#include "launch/job_flags.h"
#include "report/job_reporter.h"
#include "report/job_summary.h"
#include "report/live_output.h"

namespace shoal {

// REQUIRES of all: flags.Validate() was OK. The facts have no start yet.
JobFacts JobFactsFromFlags(const JobFlags& flags);
// The live line about a job, on stderr.
LiveOutputOptions LiveOutputOptionsFromFlags(const JobFlags& flags);
// `files` must outlive the reporter.
JobReporterOptions JobReporterOptionsFromFlags(const JobFlags& flags,
                                               const FileSystem* files);

}  // namespace shoal

#endif  // SHOAL_JOB_REPORT_OPTIONS_H_
