#ifndef SHOAL_CORE_DONE_H_
#define SHOAL_CORE_DONE_H_

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"

namespace shoal {

// The callback that gets the result of a call, exactly once.
template <typename T>
using Done = absl::AnyInvocable<void(absl::StatusOr<T>) &&>;

}  // namespace shoal

#endif  // SHOAL_CORE_DONE_H_
