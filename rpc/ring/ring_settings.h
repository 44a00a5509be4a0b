#ifndef SHOAL_RPC_RING_RING_SETTINGS_H_
#define SHOAL_RPC_RING_RING_SETTINGS_H_

#include <cstdint>
#include <string>

#include "core/reduction.h"

namespace shoal {

// What the ranks of one ring agree on before they trust each other's frames,
// beside the token.
struct RingSettings {
  std::string job;  // the job's label
  uint64_t generation = 1;
  int rank = 0;
  int size = 1;
  Reduction reduction = Reduction::kFast;
  uint32_t chunk_bytes = 512 << 10;
  uint64_t max_part_bytes = uint64_t{1} << 30;

  int next() const { return (rank + 1) % size; }
  int previous() const { return (rank + size - 1) % size; }
};

}  // namespace shoal

#endif  // SHOAL_RPC_RING_RING_SETTINGS_H_
