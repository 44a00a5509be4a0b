#ifndef SHOAL_JOB_JOB_TOKEN_H_
#define SHOAL_JOB_JOB_TOKEN_H_

#include <string>

#include "absl/status/statusor.h"
#include "launch/job_flags.h"
#include "rpc/channel_options.h"

namespace shoal {

// The secret of --token_file, or "" without that flag. If the flag is "-", the
// secret is the first line of stdin, which must come within --start_timeout.
// Errors: those of ReadTokenFile.
absl::StatusOr<std::string> JobToken(const JobFlags& flags);

// Options of a channel to the process with the coordinator.
ChannelOptions CoordinatorChannelFromFlags(const JobFlags& flags,
                                           const std::string& token);
// Options of a channel to PS `index` of --ps_hosts.
ChannelOptions ChannelOptionsFromFlags(const JobFlags& flags,
                                       const std::string& token, int index);

}  // namespace shoal

#endif  // SHOAL_JOB_JOB_TOKEN_H_
