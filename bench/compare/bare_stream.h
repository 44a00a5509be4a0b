#ifndef SHOAL_BENCH_COMPARE_BARE_STREAM_H_
#define SHOAL_BENCH_COMPARE_BARE_STREAM_H_

#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace shoal {

// Calls `work` in the network namespace `name` (of `ip netns`): sockets that
// it makes stay there. An empty name is the namespace of this process. Errors:
// NOT_FOUND or PERMISSION_DENIED if the namespace cannot be entered, and those
// of `work`. Thread-hostile: the calling thread moves there and back.
absl::Status InNamespace(const std::string& name,
                         absl::FunctionRef<absl::Status()> work);

// The payload, in bit/s, that one TCP stream carries from the namespace `from`
// to the address of the namespace `to`, for `window` after half a second in
// which it finds its speed. Nothing but the two ends of a socket takes part.
absl::StatusOr<double> MeasureStream(const std::string& from,
                                     const std::string& to,
                                     const std::string& address,
                                     absl::Duration window);

}  // namespace shoal

#endif  // SHOAL_BENCH_COMPARE_BARE_STREAM_H_
