#include "job/worker_compute.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "base/counted.h"
#include "base/cpu_name.h"
#include "base/output_path.h"
#include "base/status_macros.h"
#include "models/create_model.h"
#include "models/paced_model.h"
#include "models/recorded_model.h"
#include "models/replayed_model.h"

namespace shoal {
namespace {

std::string ProfileFlag(const std::string& path) {
  return absl::StrCat("--compute_profile=", path);
}

absl::StatusOr<ComputeProfile> ReadProfile(const FileSystem& files,
                                           const std::string& path) {
  SHOAL_ASSIGN_OR_RETURN(const std::unique_ptr<RandomAccessFile> file,
                         files.OpenForRead(path));
  if (file->size() > ComputeProfile::kMostBytes) {
    return absl::InvalidArgumentError(absl::StrCat(
        "has ", file->size(), " bytes, and a compute profile has at most ",
        ComputeProfile::kMostBytes,
        "; give a file that --record_compute has written"));
  }
  std::string text(file->size(), '\0');
  SHOAL_ASSIGN_OR_RETURN(
      const size_t size,
      file->Read(0, absl::MakeSpan(text.data(), text.size())));
  text.resize(size);
  return ParseComputeProfile(text);
}

absl::Status WriteRecord(const FileSystem& files,
                         const WorkerComputeOptions& options,
                         const ComputeShape& shape,
                         const TimelineSample& sample) {
  if (sample.steps().empty()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "nothing was recorded: worker 0 computed no more than ",
        TimelineSample::kWarmUpSteps,
        " whole batches, which are its warm-up; record a longer run"));
  }
  ComputeProfile profile;
  profile.shape = shape;
  profile.machine = CpuName();
  profile.program = SHOAL_VERSION;
  profile.steps_seen = sample.seen();
  profile.steps = sample.steps();
  return WriteOutput(files, options.record, ComputeProfileText(profile));
}

double Millis(absl::Duration time) { return absl::ToDoubleMilliseconds(time); }

std::string ReplayText(const ReplayError& error) {
  const auto steps = static_cast<double>(error.steps);
  const double wanted = std::max(Millis(error.wanted), 1e-9);
  return absl::StrFormat(
      "replayed the compute of %s: %.3f ms a step, mean; it took %.3f ms "
      "(%.2f %%) longer than recorded, mean, and %.3f ms at most",
      Counted(error.steps, "step"), wanted / steps, Millis(error.late) / steps,
      100 * Millis(error.late) / wanted, Millis(error.latest));
}

}  // namespace

absl::StatusOr<WorkerComputeOptions> WorkerComputeFromFlags(
    const JobFlags& flags, const FileSystem& files) {
  WorkerComputeOptions options;
  options.source = flags.compute.compute;
  options.batch_size = flags.training.batch_size;
  options.scale = flags.compute.compute_scale;
  options.record = flags.compute.record_compute;
  if (!flags.compute.Replays()) return options;
  options.replay_path = flags.compute.compute_profile;
  auto profile = ReadProfile(files, options.replay_path);
  SHOAL_RETURN_IF_ERROR(
      Annotate(profile.status(), ProfileFlag(options.replay_path)));
  options.replay = std::make_shared<const ComputeProfile>(*std::move(profile));
  return options;
}

absl::Status CheckReplay(const WorkerComputeOptions& options,
                         const JobPlan& plan) {
  if (options.replay == nullptr) return absl::OkStatus();
  // The plan's variables may have a canary, which no model has.
  SHOAL_ASSIGN_OR_RETURN(const ModelSpec spec, MakeModelSpec(plan.model));
  return Annotate(
      CheckSameShape(options.replay->shape,
                     ComputeShape::Of(spec, plan.model.field_size,
                                      options.batch_size)),
      ProfileFlag(options.replay_path));
}

absl::StatusOr<std::unique_ptr<WorkerCompute>> WorkerCompute::Create(
    WorkerComputeOptions options, const JobPlan& plan, int worker,
    std::unique_ptr<Model> model, const FileSystem* files, Logger* logger) {
  SHOAL_RETURN_IF_ERROR(CheckReplay(options, plan));
  std::unique_ptr<WorkerCompute> compute(new WorkerCompute());
  const bool waits = options.source == ComputeSource::kReplay;
  const double pace = waits ? 1 : options.scale;
  if (options.replay != nullptr) {
    SleepingClock* const clock =
        waits ? static_cast<SleepingClock*>(&compute->clock_)
              : &compute->processor_;
    auto replayed = std::make_unique<ReplayedModel>(
        std::move(model), options.replay, worker, waits ? options.scale : 1,
        clock);
    compute->finish_ = [logger, replayed = replayed.get()] {
      const ReplayError error = replayed->error();
      if (error.steps > 0) logger->Info(ReplayText(error));
    };
    model = std::move(replayed);
  } else if (!options.record.empty() && worker == 0) {
    auto recorded = std::make_unique<RecordedModel>(
        std::move(model), options.batch_size, &compute->processor_);
    const ComputeShape shape = ComputeShape::Of(
        recorded->spec(), plan.model.field_size, options.batch_size);
    compute->finish_ = [files, logger, shape, options = std::move(options),
                        recorded = recorded.get()] {
      const absl::Status written =
          WriteRecord(*files, options, shape, recorded->sample());
      const std::string flag =
          absl::StrCat("--record_compute=", options.record);
      if (written.ok()) {
        logger->Info(absl::StrCat(flag, ": written"));
      } else {
        logger->Error(Annotate(written, flag).message());
      }
    };
    model = std::move(recorded);
  }
  if (pace > 1) {
    model = std::make_unique<PacedModel>(
        std::move(model), pace, &compute->processor_, &compute->clock_);
  }
  compute->model_ = std::move(model);
  return compute;
}

void WorkerCompute::Finish() {
  if (finish_ != nullptr) finish_();
}

}  // namespace shoal
