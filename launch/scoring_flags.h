#ifndef SHOAL_LAUNCH_SCORING_FLAGS_H_
#define SHOAL_LAUNCH_SCORING_FLAGS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "launch/command.h"
#include "launch/flag_set.h"
#include "launch/flags/job_flag_rows.h"
#include "launch/job_flags.h"

namespace shoal {

// The flags of the commands that only score: shoal eval and shoal infer. A user
// gives them a checkpoint and data. The flags that decide the model come from
// the checkpoint's config (JobFlags::CanonicalConfig): they need not be
// repeated, and cannot be wrong.

// The use that such a command has for a flag of a job.
enum class ScoringUse {
  // None: the command does not take the flag.
  kNone,
  // The command takes the flag, and --help lists it. If the checkpoint's config
  // has the flag too, its value there is the default.
  kShown,
  // The checkpoint's config decides the flag. The command takes the flag only
  // with that value, so that the flags of a training can be given again; --help
  // does not list it.
  kOfModel,
};

// A new flag of a job is not shown until the table in scoring_flags.cc has it;
// a new canonical flag is kOfModel. REQUIRES: OnlyScores(command).
ScoringUse UseInScoring(Command command, const JobFlagRow& row);

// The row's flag as the command takes it, with a help text of its own where the
// one for training would mislead. REQUIRES: UseInScoring is not kNone.
Flag ScoringFlag(Command command, const JobFlagRow& row);

// Sets the flags that `config` decides, and compares the ones that are given.
// `config` is the one of the checkpoint `path`; `set` is the JobFlagSet of
// *flags, after all other places were read. INVALID_ARGUMENT: a flag is given
// whose value differs (the message has both values). FAILED_PRECONDITION: the
// config has a flag that this version does not know.
absl::Status TakeModelFlags(absl::string_view config, const std::string& path,
                            JobFlags* flags, FlagSet* set);

}  // namespace shoal

#endif  // SHOAL_LAUNCH_SCORING_FLAGS_H_
