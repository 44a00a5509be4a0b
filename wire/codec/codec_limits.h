#ifndef SHOAL_WIRE_CODEC_CODEC_LIMITS_H_
#define SHOAL_WIRE_CODEC_CODEC_LIMITS_H_

#include <cstdint>

#include "core/pushed_batch.h"

namespace shoal {

// Limits on what a peer may ask of a decoder. The decoder checks them before it
// allocates memory. Counts above a limit are INVALID_ARGUMENT, bytes above a
// limit are RESOURCE_EXHAUSTED.
struct CodecLimits {
  uint64_t max_tables = 4096;      // tables of one request
  uint64_t max_blocks = 65536;     // blocks of one request
  uint64_t max_batches = kMaxPushedBatches;  // batches of one push
  uint32_t max_row_dim = 1 << 20;  // floats
  // Bytes of a reply. A pull that asks for more is refused before it is served.
  uint64_t max_reply_bytes = 64 << 20;
};

}  // namespace shoal

#endif  // SHOAL_WIRE_CODEC_CODEC_LIMITS_H_
