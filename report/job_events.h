#ifndef SHOAL_REPORT_JOB_EVENTS_H_
#define SHOAL_REPORT_JOB_EVENTS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/file_system.h"
#include "cluster/job_report.h"
#include "report/event_file.h"

namespace shoal {

// The job's curves for TensorBoard, by job step: loss, auc/progressive,
// auc/evaluation, logloss/evaluation, samples_per_second, staleness/mean,
// staleness/p99, staleness/max. A point at most every `interval`, and none
// where no step was made; the evaluation's when it is new. The last step's is
// written by End, when every count is known. Thread-hostile.
class JobEvents {
 public:
  // Errors: those of EventFile::Create.
  static absl::StatusOr<std::unique_ptr<JobEvents>> Create(
      const FileSystem& files, const std::string& directory,
      absl::Duration interval, absl::Time now);

  // The job as it stands.
  absl::Status Progress(const JobReport& report, absl::Time now);
  // The last points: also of a step that has points, what differs from them, as
  // the shards' last reports come after the last step.
  absl::Status End(const JobReport& report, absl::Time now);

 private:
  JobEvents(std::unique_ptr<EventFile> file, absl::Duration interval)
      : file_(std::move(file)), interval_(interval) {}

  // With `again` also at the step of the newest point.
  absl::Status WriteTraining(const JobReport& report, absl::Time now,
                             bool again = false);
  absl::Status WriteEvaluation(const JobReport& report, absl::Time now);

  const std::unique_ptr<EventFile> file_;
  const absl::Duration interval_;
  absl::Time written_ = absl::InfinitePast();
  uint64_t step_ = 0;  // of the newest point
  std::vector<ScalarPoint> newest_;
  size_t evaluations_ = 0;  // that were written
};

}  // namespace shoal

#endif  // SHOAL_REPORT_JOB_EVENTS_H_
