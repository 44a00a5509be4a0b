#ifndef SHOAL_LAUNCH_JOB_FLAG_SET_H_
#define SHOAL_LAUNCH_JOB_FLAG_SET_H_

#include <string>
#include <vector>

#include "launch/command.h"
#include "launch/flag_set.h"
#include "launch/flags/job_flag_rows.h"
#include "launch/job_flags.h"

namespace shoal {

// The table of all flags of a job, bound to *flags, which must outlive it.
JobFlagRows AllJobFlagRows(JobFlags* flags);

// The flags that flags->command takes, bound to *flags, which must outlive the
// set. The other flags of JobFlags are in the set as foreign flags.
FlagSet JobFlagSet(JobFlags* flags);

// The arguments with which a launcher hands its flags down to a process of
// `command`: `--name=value` for every flag that is given in `set`, that the
// process takes and that is HandedDown in its row. `set` is a JobFlagSet.
std::vector<std::string> HandedDownFlags(const FlagSet& set, Command command);

}  // namespace shoal

#endif  // SHOAL_LAUNCH_JOB_FLAG_SET_H_
