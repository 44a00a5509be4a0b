#ifndef SHOAL_JOB_START_NUMBER_H_
#define SHOAL_JOB_START_NUMBER_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/file_system.h"
#include "coordinator/checkpoint_options.h"
#include "core/ids.h"
#include "launch/job_flags.h"

namespace shoal {

// How the process that holds the coordinator gives its job a start number, by
// which jobs are told apart (core/ids.h).

// Beside the checkpoints of a model directory: the largest start number that
// was drawn for it, as sixteen hexadecimal digits and a line feed.
inline constexpr char kStartFile[] = "START";

// The milliseconds from 1970 to `now` in the upper 42 bits, which last until
// 2109, and `random` in the lower 22; or `last` + 1 where that is larger, so
// that a clock that was set back repeats no number.
StartNumber MakeStartNumber(absl::Time now, uint64_t random, StartNumber last);

// Draws the number of a job that begins now. Where the job saves, the number is
// larger than that of the checkpoint it goes on from and than every one drawn
// for the model directory before, and is in MODEL_DIR/START when this returns.
// REQUIRES: LockOutput and PlanCheckpoints were OK, and nothing is served yet.
// Errors: DATA_LOSS (START holds something else), the file system's.
absl::StatusOr<StartNumber> DrawStartNumber(
    const FileSystem& files, const JobFlags& flags,
    const CheckpointOptions& checkpoints, absl::Time now);

}  // namespace shoal

#endif  // SHOAL_JOB_START_NUMBER_H_
