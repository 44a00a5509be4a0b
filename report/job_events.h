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

// Writes the job's curves for TensorBoard, by job step: loss, auc/progressive,
// auc/evaluation, logloss/evaluation, calibration/evaluation (mean predicted
// probability / mean label), samples_per_second, staleness/mean,
// staleness/p99, staleness/max. There is a point at most every `interval`, and
// only if the step has changed. The points of an evaluation are written when it
// is new. End writes the points of the last step, when every count is known.
// Thread-hostile.
class JobEvents {
 public:
  // Errors: those of EventFile::Create.
  static absl::StatusOr<std::unique_ptr<JobEvents>> Create(
      const FileSystem& files, const std::string& directory,
      absl::Duration interval, absl::Time now);

  // Writes points of the job's present state, if they are due.
  absl::Status Progress(const JobReport& report, absl::Time now);
  // Writes the last points and closes the file. The shards' last reports come
  // after the last step: if that step has points already, the values that have
  // changed since are written again.
  absl::Status End(const JobReport& report, absl::Time now);

 private:
  JobEvents(std::unique_ptr<EventFile> file, absl::Duration interval)
      : file_(std::move(file)), interval_(interval) {}

  // With `again` also writes points at the step of the newest point.
  absl::Status WriteTraining(const JobReport& report, absl::Time now,
                             bool again = false);
  absl::Status WriteEvaluation(const JobReport& report, absl::Time now);

  const std::unique_ptr<EventFile> file_;
  const absl::Duration interval_;
  absl::Time written_ = absl::InfinitePast();
  uint64_t step_ = 0;                // step of the newest points
  std::vector<ScalarPoint> newest_;  // values of the newest points
  size_t evaluations_ = 0;           // number of evaluations written
};

}  // namespace shoal

#endif  // SHOAL_REPORT_JOB_EVENTS_H_
