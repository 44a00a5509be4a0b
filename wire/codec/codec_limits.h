#ifndef SHOAL_WIRE_CODEC_CODEC_LIMITS_H_
#define SHOAL_WIRE_CODEC_CODEC_LIMITS_H_

#include <cstdint>

namespace shoal {

// What a decoder takes from a peer before it allocates anything for it. Beyond
// the counts: INVALID_ARGUMENT; beyond the bytes: RESOURCE_EXHAUSTED.
struct CodecLimits {
  uint64_t max_tables = 4096;      // of one request
  uint64_t max_blocks = 65536;     // of one request
  uint32_t max_row_dim = 1 << 20;  // floats
  // Of a reply; a pull that asks for more is refused before it is served.
  uint64_t max_reply_bytes = 64 << 20;
};

}  // namespace shoal

#endif  // SHOAL_WIRE_CODEC_CODEC_LIMITS_H_
