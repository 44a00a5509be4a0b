#ifndef SHOAL_CORE_MEMBER_NAME_H_
#define SHOAL_CORE_MEMBER_NAME_H_

#include <string>

#include "absl/strings/string_view.h"
#include "core/registration.h"

namespace shoal {

// The name of the process that a member of the job is in, by the address with
// which the member registered: "ps 2" or "worker 0". A PS without an address
// holds a rank's copy of the variables (core/ps_members.h) and is a part of
// that worker, which has the same index.
inline std::string MemberName(Role role, int index, absl::string_view address) {
  return ProcessName(address.empty() ? Role::kWorker : role, index);
}

}  // namespace shoal

#endif  // SHOAL_CORE_MEMBER_NAME_H_
