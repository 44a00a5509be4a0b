#ifndef SHOAL_CORE_MEMBER_NAME_H_
#define SHOAL_CORE_MEMBER_NAME_H_

#include <algorithm>
#include <string>

#include "core/ps_members.h"
#include "core/registration.h"

namespace shoal {

// The name of the process that a member of the job is in, by the request with
// which it registers: "ps 2" or "worker 0". A PS without an address holds a
// rank's copy of the variables, and is a part of that worker. `ps` are the PSs
// of the job.
inline std::string MemberName(const RegisterRequest& request,
                              const PsMembers& ps) {
  if (request.role != Role::kPs || !request.address.empty()) {
    return ProcessName(request.role, request.index);
  }
  // An index that no rank has is named as it is.
  const int before = std::max(ps.replicated, 0);
  return ProcessName(
      Role::kWorker,
      request.index < before ? request.index : request.index - before);
}

}  // namespace shoal

#endif  // SHOAL_CORE_MEMBER_NAME_H_
