#include "bench/compare/profile_recorder.h"

#include <cmath>
#include <cstdint>
#include <memory>

#include "absl/strings/str_format.h"
#include "base/path.h"
#include "base/status_macros.h"
#include "bench/compare/alone_cell.h"
#include "bench/compare/cell_flags.h"
#include "bench/compare/cpu_watch.h"
#include "bench/compare/grey_reason.h"
#include "bench/compare/lab.h"
#include "bench/compare/parsed_job.h"
#include "models/compute_profile.h"
#include "models/timeline_sample.h"

namespace shoal {
namespace {

// A profile is recorded until it has so many steps or so much time has passed,
// and never for fewer than the least number of steps. If a few more steps were
// made than it has room for, it keeps every second one (TimelineSample).
constexpr uint64_t kRecordSteps =
    TimelineSample::kWarmUpSteps + ComputeProfile::kMostSteps;
constexpr uint64_t kLeastRecordSteps = 2 * TimelineSample::kWarmUpSteps;
constexpr double kRecordSeconds = 20;
// A profile is for paused speeds within this share of its own.
constexpr double kRecordTolerance = .05;

bool IsRecorded(const ProgressFigures& figures) {
  return figures.step >= kRecordSteps ||
         (figures.step >= kLeastRecordSteps &&
          figures.wall_seconds >= kRecordSeconds);
}

}  // namespace

bool ProfileRecorder::Has(const std::string& path, double paused_speed) const {
  const auto recorded = recorded_.find(path);
  return recorded != recorded_.end() && !recorded->second.disturbed &&
         std::abs(paused_speed / recorded->second.paused_speed - 1) <=
             kRecordTolerance &&
         options_.files->OpenForRead(path).ok();
}

absl::StatusOr<RecordedProfile> ProfileRecorder::ProfileOf(
    const Cell& cell, int repeat, double paused_speed) {
  const Cell alone = AloneOf(cell);
  const std::string name = absl::StrFormat(
      "%s_%s_b%d_c%.4g_t%.4g.%d", alone.model, alone.mode, alone.batch_size,
      alone.cores_per_host, alone.dilation, repeat + 1);
  const std::string path = JoinPath(options_.folder, name + ".json");
  if (Has(path, paused_speed)) return RecordedProfile{path};
  CellPlace place;
  // Whole records alone have the name that is looked for.
  place.record = path + ".part";
  place.epochs = options_.many_epochs;
  place.paused_speed = paused_speed;
  SHOAL_ASSIGN_OR_RETURN(const std::unique_ptr<Lab> lab,
                         launcher_->LabOf(alone, paused_speed));
  place.hosts = launcher_->HostsOf(alone, lab.get());
  SHOAL_ASSIGN_OR_RETURN(const std::unique_ptr<ParsedJob> job,
                         launcher_->Plan(alone, place));
  const std::string what = "cannot record the computation";
  const CpuWatch watch;
  SHOAL_RETURN_IF_ERROR(
      Annotate(launcher_
                   ->Run(alone, paused_speed, job.get(), lab.get(),
                         "record_" + name, IsRecorded)
                   .status(),
               what));
  const double others_cores = watch.OthersCores();
  SHOAL_RETURN_IF_ERROR(
      Annotate(options_.files->Rename(place.record, path), what));
  recorded_[path] = {paused_speed, others_cores > kOthersMost};
  return RecordedProfile{path, others_cores};
}

}  // namespace shoal
