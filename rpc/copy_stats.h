#ifndef SHOAL_RPC_COPY_STATS_H_
#define SHOAL_RPC_COPY_STATS_H_

#include <cstdint>

namespace shoal {

// Of one side since it started: bytes of ids, values and gradients that were
// encoded or decoded, and how many bytes of them were copied for it. At most
// one copy a byte: copied_bytes <= payload_bytes.
struct CopyStats {
  uint64_t payload_bytes = 0;
  uint64_t copied_bytes = 0;
};

}  // namespace shoal

#endif  // SHOAL_RPC_COPY_STATS_H_
