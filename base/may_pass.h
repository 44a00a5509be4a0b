#ifndef SHOAL_BASE_MAY_PASS_H_
#define SHOAL_BASE_MAY_PASS_H_

#include "absl/status/status.h"

namespace shoal {

// True for an error of a call that may pass by itself, so that the call is
// worth repeating: UNAVAILABLE (the other side cannot be reached),
// DEADLINE_EXCEEDED (it did not answer in time) and RESOURCE_EXHAUSTED (it has
// no room). A caller that knows its call may add codes to these.
inline bool MayPass(absl::StatusCode code) {
  return code == absl::StatusCode::kUnavailable ||
         code == absl::StatusCode::kDeadlineExceeded ||
         code == absl::StatusCode::kResourceExhausted;
}
inline bool MayPass(const absl::Status& status) {
  return MayPass(status.code());
}

}  // namespace shoal

#endif  // SHOAL_BASE_MAY_PASS_H_
