#ifndef SHOAL_REPORT_JOB_REPORTER_H_
#define SHOAL_REPORT_JOB_REPORTER_H_

#include <memory>
#include <string>

#include "absl/time/time.h"
#include "base/file_system.h"
#include "base/logger.h"
#include "cluster/job_report.h"
#include "launch/job_flags.h"
#include "report/job_events.h"
#include "report/live_output.h"

namespace shoal {

// How the process with the coordinator tells of its job, by --progress: text
// for people (the live line on stderr, the closing lines on stdout), JSON lines
// on stdout for a launcher, or nothing; and in event files for TensorBoard,
// where flags say so. Thread-hostile: the main thread's.
class JobReporter {
 public:
  JobReporter(const JobFlags& flags, const FileSystem* files);

  // Opens the event file, if there is to be one. Call once, first. Errors:
  // those of EventFile::Create.
  absl::Status Start(absl::Time now);

  // How often Progress is to be called.
  absl::Duration interval() const;
  void Progress(const JobReport& report, absl::Time now);

  // The job has ended: writes --summary and the closing lines. Errors: the
  // summary could not be written.
  absl::Status End(const JobReport& report, absl::Time now);

 private:
  // Tells of a failure once and writes no further events.
  void CheckEvents(const absl::Status& written);

  const JobFlags flags_;
  const FileSystem* const files_;
  LiveOutput output_;
  std::unique_ptr<JobEvents> events_;  // null: none are written
};

}  // namespace shoal

#endif  // SHOAL_REPORT_JOB_REPORTER_H_
