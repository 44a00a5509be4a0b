#ifndef SHOAL_CMD_PLAN_MEASUREMENTS_H_
#define SHOAL_CMD_PLAN_MEASUREMENTS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/file_system.h"
#include "job/main_wait.h"
#include "launch/flag_set.h"
#include "launch/job_flags.h"
#include "plan/calibration.h"

namespace shoal {

// Where the measurements of a plan come from.
struct MeasurementFlags {
  std::string calibration;
  std::string compare;
  std::string compare_model;
  bool measure = false;
  absl::Duration measure_time = absl::Seconds(10);
  std::string calibration_out;
};

void AddMeasurementFlags(MeasurementFlags* flags, FlagSet* set);

// INVALID_ARGUMENT: nothing is measured, or the flags do not go together. `set`
// has read the flags.
absl::Status CheckMeasurementFlags(const MeasurementFlags& flags,
                                   const FlagSet& set);

struct Measurements {
  Calibration calibration;
  // Seconds of a core for a sample of the job, where --measure stands beside a
  // calibration of another job; 0: it follows from the calibration.
  double sample_seconds = 0;
};

// Reads the files, or measures, and writes calibration_out. `job_set` is the
// JobFlagSet of `job`, which were read; they are valid and whole if
// flags.measure is set. Errors: those of the files and of the data, CANCELLED
// if a signal ended the measurement, FAILED_PRECONDITION if the calibration is
// of another processor than the one that would measure beside it. Only names of
// processors are compared, and a virtual machine's may be as short as "AMD
// EPYC".
absl::StatusOr<Measurements> FindMeasurements(const MeasurementFlags& flags,
                                              const FileSystem& files,
                                              const JobFlags& job,
                                              const FlagSet& job_set,
                                              MainWait* wait);

}  // namespace shoal

#endif  // SHOAL_CMD_PLAN_MEASUREMENTS_H_
