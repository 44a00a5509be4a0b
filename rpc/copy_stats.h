#ifndef SHOAL_RPC_COPY_STATS_H_
#define SHOAL_RPC_COPY_STATS_H_

#include <cstdint>

namespace shoal {

// Counts of one client or server since its start. payload_bytes are the bytes
// of ids, values and gradients that were encoded or decoded. copied_bytes are
// the bytes that were copied for this. A byte is copied at most once:
// copied_bytes <= payload_bytes.
struct CopyStats {
  uint64_t payload_bytes = 0;
  uint64_t copied_bytes = 0;
};

}  // namespace shoal

#endif  // SHOAL_RPC_COPY_STATS_H_
