#ifndef SHOAL_REPORT_JOB_REPORTER_H_
#define SHOAL_REPORT_JOB_REPORTER_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "base/file_system.h"
#include "cluster/job_report.h"
#include "core/progress_style.h"
#include "report/job_events.h"
#include "report/job_summary.h"
#include "report/live_output.h"

namespace shoal {

struct JobReporterOptions {
  ProgressStyle style = ProgressStyle::kText;
  // For the live line.
  LiveOutputOptions output;
  std::string events_dir;    // for TensorBoard; empty: no event files
  std::string summary;       // path of the summary; empty: no summary
  std::string bad_rows_dir;  // as in ClosingText
  JobFacts facts;
  // The last closing line of a job that has evaluated; empty: none.
  std::function<std::string()> last_line = [] { return std::string(); };
};

// Reports a job from the process with the coordinator: the live line, events
// for TensorBoard, the closing lines and the summary. Thread-hostile: use it on
// the main thread.
class JobReporter {
 public:
  JobReporter(JobReporterOptions options, const FileSystem* files);

  // The job begins. Opens the event file if events_dir is given. Call once,
  // first. Errors:
  // those of EventFile::Create.
  absl::Status Start(absl::Time now);

  // Time between two calls of Progress: for a launcher (kJson) it is short
  // until the job begins to train or ends, so that it is told at once.
  absl::Duration interval() const;
  void Progress(const JobReport& report, absl::Time now);

  // Writes the summary and the closing lines of a job that has ended, and the
  // ResumeText of a job that is done. `signal`
  // is for a launcher (kJson): the signal that asked this process to stop, or
  // 0. Errors: the summary or the lines could not be written.
  absl::Status End(const JobReport& report, absl::Time now, int signal = 0);

 private:
  // A launcher waits for the job to begin.
  bool IsAwaited() const;
  // If `written` is an error, logs it and writes no further events.
  void CheckEvents(const absl::Status& written);

  const JobReporterOptions options_;
  const FileSystem* const files_;
  LiveOutput output_;
  absl::Time start_ = absl::InfinitePast();
  absl::Time shown_ = absl::InfinitePast();  // the last progress
  bool begun_ = false;
  std::unique_ptr<JobEvents> events_;  // null: no events are written
};

}  // namespace shoal

#endif  // SHOAL_REPORT_JOB_REPORTER_H_
