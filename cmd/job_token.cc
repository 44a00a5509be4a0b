#include "cmd/job_token.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/stable_hash.h"
#include "core/cluster_service.h"
#include "rpc/token.h"

namespace shoal {

absl::StatusOr<std::string> JobToken(const JobFlags& flags) {
  if (flags.token_file.empty()) return std::string();
  return ReadTokenFile(flags.token_file);
}

std::string JobNameOfToken(absl::string_view token) {
  if (token.empty()) return "default";
  return absl::StrCat("job-", absl::Hex(StableHash(token), absl::kZeroPad16));
}

ChannelOptions ChannelOptionsFromFlags(const JobFlags& flags,
                                       const std::string& token, int index) {
  const std::vector<std::string> hosts = absl::StrSplit(flags.ps_hosts, ',');
  ChannelOptions options;
  options.address = hosts[index];
  options.peer = ProcessName(Role::kPs, index);
  options.token = token;
  options.max_message_bytes = static_cast<uint64_t>(flags.max_message_bytes);
  return options;
}

}  // namespace shoal
