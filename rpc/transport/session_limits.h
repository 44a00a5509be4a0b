#ifndef SHOAL_RPC_TRANSPORT_SESSION_LIMITS_H_
#define SHOAL_RPC_TRANSPORT_SESSION_LIMITS_H_

#include <cstddef>

namespace shoal {

// A MarkDelta with more marks than this travels as several. A mark takes at
// most 36 bytes on the wire, so one message stays below 5 MiB.
inline constexpr size_t kMarksPerMessage = 128 << 10;

}  // namespace shoal

#endif  // SHOAL_RPC_TRANSPORT_SESSION_LIMITS_H_
