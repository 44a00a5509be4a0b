#include "cmd/plan_measurements.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/cpu_name.h"
#include "base/output_path.h"
#include "base/status_macros.h"
#include "bench/calibrate/comparison_calibration.h"
#include "bench/calibrate/measure_job.h"
#include "bench/compare/comparison_json.h"
#include "bench/compare/text_file.h"

namespace shoal {
namespace {

bool ReadsFile(const MeasurementFlags& flags) {
  return !flags.calibration.empty() || !flags.compare.empty();
}

// `others`: see MeasureOptions.
absl::StatusOr<Calibration> Measure(const MeasurementFlags& flags,
                                    const FileSystem& files,
                                    const JobFlags& job, const FlagSet& job_set,
                                    const Calibration* others, MainWait* wait) {
  MeasureOptions options;
  options.span = flags.measure_time;
  options.others = others;
  // Until there is something that needs an end in good order, a signal ends
  // the process.
  bool begun = false;
  auto measured = MeasureJob(files, job, job_set, options, [&begun, wait] {
    if (!begun) wait->Begin();
    begun = true;
    return wait->CheckNotStopped();
  });
  if (begun) wait->QuitOnInterrupt();
  return measured;
}

absl::StatusOr<Calibration> ReadCalibration(const MeasurementFlags& flags,
                                            const FileSystem& files) {
  if (!flags.compare.empty()) {
    SHOAL_ASSIGN_OR_RETURN(const Comparison comparison,
                           ReadComparison(files, flags.compare));
    auto found = CalibrationOf(comparison, {.model = flags.compare_model});
    if (!found.ok()) return Annotate(found.status(), flags.compare);
    return found;
  }
  SHOAL_ASSIGN_OR_RETURN(const std::string text,
                         ReadTextFile(files, flags.calibration));
  auto read = CalibrationFromJson(text);
  if (!read.ok()) return Annotate(read.status(), flags.calibration);
  return read;
}

absl::Status CheckProcessor(const MeasurementFlags& flags,
                            const Calibration& read) {
  const std::string here = CpuName();
  if (read.cpu.empty() || here.empty() || read.cpu == here) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(absl::StrCat(
      flags.compare.empty() ? flags.calibration : flags.compare,
      " was measured on the processor '", read.cpu, "', and this machine has '",
      here,
      "', so what --measure would find does not go with it: plan on a machine "
      "with such a processor, or without --measure if the model's cost of a "
      "sample may follow from its work"));
}

absl::StatusOr<Measurements> MeasureBeside(const MeasurementFlags& flags,
                                           const FileSystem& files,
                                           const JobFlags& job,
                                           const FlagSet& job_set,
                                           Calibration read, MainWait* wait) {
  SHOAL_RETURN_IF_ERROR(CheckProcessor(flags, read));
  SHOAL_ASSIGN_OR_RETURN(const Calibration measured,
                         Measure(flags, files, job, job_set, &read, wait));
  read.distinct_ids = measured.distinct_ids;
  absl::StrAppend(&read.source,
                  "; cost of a sample and distinct ids: ", measured.source);
  return Measurements{std::move(read), measured.costs.sample};
}

absl::StatusOr<Measurements> Find(const MeasurementFlags& flags,
                                  const FileSystem& files, const JobFlags& job,
                                  const FlagSet& job_set, MainWait* wait) {
  if (!ReadsFile(flags)) {
    SHOAL_ASSIGN_OR_RETURN(Calibration measured,
                           Measure(flags, files, job, job_set, nullptr, wait));
    return Measurements{std::move(measured)};
  }
  SHOAL_ASSIGN_OR_RETURN(Calibration read, ReadCalibration(flags, files));
  if (flags.measure) {
    return MeasureBeside(flags, files, job, job_set, std::move(read), wait);
  }
  if (job_set.given("training_data_dir")) {
    SHOAL_RETURN_IF_ERROR(CountIds(files, job, &read));
  }
  return Measurements{std::move(read)};
}

}  // namespace

void AddMeasurementFlags(MeasurementFlags* flags, FlagSet* set) {
  set->Group("Measurements");
  set->Add({"calibration", &flags->calibration,
            "File of measurements that --calibration_out wrote."});
  set->Add({"compare", &flags->compare,
            "File compare.json of shoal bench compare, whose cells of 1 and 2 "
            "hosts are the measurements."});
  set->Add({"compare_model", &flags->compare_model,
            "Name of the model in --compare, if it has several."});
  set->Add({"measure", &flags->measure,
            "Measure now: train with the job's flags in one process and count "
            "the distinct ids of the data. Without --compare and --calibration "
            "the costs of the network are those of another machine, and the "
            "plan says so. Beside one of them the cost of a sample and the "
            "distinct ids are measured, and all other costs are the file's."});
  set->Add({"measure_time", &flags->measure_time, "Time that --measure trains.",
            DurationRange{absl::Seconds(1), absl::Hours(1)}});
  set->Add({"calibration_out", &flags->calibration_out,
            "File for the measurements, to plan with them again. Not for "
            "--measure beside a file."});
}

absl::Status CheckMeasurementFlags(const MeasurementFlags& flags,
                                   const FlagSet& set) {
  if (set.given("compare_model") && flags.compare.empty()) {
    return absl::InvalidArgumentError(
        "--compare_model names a model of --compare, which is not given");
  }
  if (set.given("measure_time") && !flags.measure) {
    return absl::InvalidArgumentError(
        "--measure_time is for --measure, which is not given");
  }
  if (flags.measure && ReadsFile(flags) && !flags.calibration_out.empty()) {
    return absl::InvalidArgumentError(
        "--calibration_out is a file of one job, and --measure beside "
        "--compare or --calibration measures another one: leave it out");
  }
  const bool twice = !flags.calibration.empty() && !flags.compare.empty();
  if (!twice && (flags.measure || ReadsFile(flags))) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      twice ? "measurements are given twice" : "no measurements are given",
      ": give --measure (train for 10 s now), or one of --compare=compare.json "
      "(of shoal bench compare) and --calibration=FILE (of --calibration_out), "
      "or --measure beside one of these two"));
}

absl::StatusOr<Measurements> FindMeasurements(const MeasurementFlags& flags,
                                              const FileSystem& files,
                                              const JobFlags& job,
                                              const FlagSet& job_set,
                                              MainWait* wait) {
  SHOAL_ASSIGN_OR_RETURN(Measurements found,
                         Find(flags, files, job, job_set, wait));
  if (!flags.calibration_out.empty()) {
    SHOAL_RETURN_IF_ERROR(WriteOutput(files, flags.calibration_out,
                                      CalibrationToJson(found.calibration)));
  }
  return found;
}

}  // namespace shoal
