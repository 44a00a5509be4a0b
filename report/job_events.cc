#include "report/job_events.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/status_macros.h"

namespace shoal {
namespace {

float Value(double value) { return static_cast<float>(value); }

std::vector<ScalarPoint> TrainingPoints(const JobReport& report) {
  // A figure that is not known has no point.
  std::vector<ScalarPoint> points;
  if (report.samples_per_second > 0) {
    points.push_back({"samples_per_second", Value(report.samples_per_second)});
  }
  if (report.loss > 0) points.push_back({"loss", Value(report.loss)});
  if (report.progressive_auc > 0) {
    points.push_back({"auc/progressive", Value(report.progressive_auc)});
  }
  if (report.staleness.count() > 0) {
    points.push_back({"staleness/mean", Value(report.staleness.mean())});
    points.push_back({"staleness/p99", Value(static_cast<double>(
                                           report.staleness.Quantile(.99)))});
    points.push_back(
        {"staleness/max", Value(static_cast<double>(report.staleness.max()))});
  }
  return points;
}

}  // namespace

absl::StatusOr<std::unique_ptr<JobEvents>> JobEvents::Create(
    const FileSystem& files, const std::string& directory,
    absl::Duration interval, absl::Time now) {
  SHOAL_ASSIGN_OR_RETURN(std::unique_ptr<EventFile> file,
                         EventFile::Create(files, directory, now));
  return std::unique_ptr<JobEvents>(new JobEvents(std::move(file), interval));
}

absl::Status JobEvents::Progress(const JobReport& report, absl::Time now) {
  SHOAL_RETURN_IF_ERROR(WriteEvaluation(report, now));
  if (now < written_ + interval_) return absl::OkStatus();
  // End writes the points of the last step: the servers' last counts come
  // later.
  if (report.total_known &&
      report.trained + report.rejected + report.lost == report.samples) {
    return absl::OkStatus();
  }
  return WriteTraining(report, now);
}

absl::Status JobEvents::WriteTraining(const JobReport& report, absl::Time now,
                                      bool again) {
  if (report.batches == 0 || (report.batches == step_ && !again)) {
    return absl::OkStatus();
  }
  std::vector<ScalarPoint> points = TrainingPoints(report);
  std::vector<ScalarPoint> fresh;
  for (const ScalarPoint& point : points) {
    if (report.batches != step_ ||
        std::find(newest_.begin(), newest_.end(), point) == newest_.end()) {
      fresh.push_back(point);
    }
  }
  newest_ = std::move(points);
  written_ = now;
  step_ = report.batches;
  if (fresh.empty()) return absl::OkStatus();
  return file_->Write(now, step_, fresh);
}

absl::Status JobEvents::WriteEvaluation(const JobReport& report,
                                        absl::Time now) {
  for (; evaluations_ < report.evals.size(); ++evaluations_) {
    const EvalReport& eval = report.evals[evaluations_];
    if (eval.examples == 0) continue;
    // The compute was replayed if there is no loss.
    if (!(eval.logloss > 0)) continue;
    std::vector<ScalarPoint> points = {
        {"auc/evaluation", Value(eval.auc)},
        {"logloss/evaluation", Value(eval.logloss)}};
    // There is no calibration if all labels are 0.
    if (eval.calibration > 0) {
      points.push_back({"calibration/evaluation", Value(eval.calibration)});
    }
    SHOAL_RETURN_IF_ERROR(file_->Write(now, eval.step, points));
  }
  return absl::OkStatus();
}

absl::Status JobEvents::End(const JobReport& report, absl::Time now) {
  SHOAL_RETURN_IF_ERROR(WriteTraining(report, now, /*again=*/true));
  SHOAL_RETURN_IF_ERROR(WriteEvaluation(report, now));
  return file_->Close();
}

}  // namespace shoal
