#ifndef SHOAL_JOB_SCORED_CHECKPOINT_H_
#define SHOAL_JOB_SCORED_CHECKPOINT_H_

#include "absl/status/status.h"
#include "base/file_system.h"
#include "base/logger.h"
#include "launch/flag_set.h"
#include "launch/job_flags.h"

namespace shoal {

// For a command that only scores (shoal eval, shoal infer): finds the
// checkpoint that --checkpoint names, or the newest one of --model_dir, and
// sets all flags that follow from it. These are --model_dir, --checkpoint, the
// number of shards, which is that of the checkpoint, and the flags of its model
// (TakeModelFlags). Reads only. Logs which newer directories were passed over.
//
// `set` is the JobFlagSet of *flags; the flags from all other places are in
// *flags already. Call before flags->Validate(). Every error names the flag,
// the path and what to do: INVALID_ARGUMENT (not exactly one of the two flags
// is given, or a path is of the wrong kind, or a flag contradicts the model),
// NOT_FOUND (no such directory, it has no checkpoint, or shards are missing),
// DATA_LOSS (damage), FAILED_PRECONDITION (written by a newer version, or
// renamed).
absl::Status TakeCheckpoint(const FileSystem& files, Logger* logger,
                            JobFlags* flags, FlagSet* set);

}  // namespace shoal

#endif  // SHOAL_JOB_SCORED_CHECKPOINT_H_
