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

// The process that holds the coordinator gives its job a start number, by which
// jobs are told apart (core/ids.h).

// The name of a file beside the checkpoints of a model directory. It holds the
// largest start number that was drawn for the directory, as sixteen hexadecimal
// digits and a line feed.
inline constexpr char kStartFile[] = "START";

// The milliseconds from 1970 to `now` in the upper 42 bits, which are enough
// until 2109, and `random` in the lower 22 bits; or `last` + 1 if that is
// larger, so that no number repeats when a clock is set back.
StartNumber MakeStartNumber(absl::Time now, uint64_t random, StartNumber last);

// Draws the start number of a job that begins now. If the job saves, the number
// is larger than the number of the checkpoint that the job resumes from, and
// than every number drawn for the model directory before, and MODEL_DIR/START
// holds it when this returns. REQUIRES: LockOutput and PlanCheckpoints were OK,
// and no server serves yet. Errors: DATA_LOSS (START holds something else),
// those of the file system.
absl::StatusOr<StartNumber> DrawStartNumber(
    const FileSystem& files, const JobFlags& flags,
    const CheckpointOptions& checkpoints, absl::Time now);

}  // namespace shoal

#endif  // SHOAL_JOB_START_NUMBER_H_
