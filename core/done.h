#ifndef SHOAL_CORE_DONE_H_
#define SHOAL_CORE_DONE_H_

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"

namespace shoal {

// What a call hands its result to, once.
template <typename T>
using Done = absl::AnyInvocable<void(absl::StatusOr<T>) &&>;

}  // namespace shoal

#endif  // SHOAL_CORE_DONE_H_
