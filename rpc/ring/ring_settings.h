#ifndef SHOAL_RPC_RING_RING_SETTINGS_H_
#define SHOAL_RPC_RING_RING_SETTINGS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/reduction.h"

namespace shoal {

// What the ranks of one ring agree on before they trust each other's frames,
// beside the token.
struct RingSettings {
  std::string job;  // the job's label
  // Number of the job's start, and of the generation of ranks within it.
  uint64_t start = 1;
  uint64_t generation = 1;
  int rank = 0;
  int size = 1;
  Reduction reduction = Reduction::kFast;
  uint32_t chunk_bytes = 512 << 10;
  uint64_t max_part_bytes = uint64_t{1} << 30;

  // The ranks for people, by rank; empty: "rank 0" and so on. The neighbours
  // need not agree on it.
  std::vector<std::string> names;

  std::string Name(int at) const {
    const auto r = static_cast<size_t>(at);
    return r < names.size() ? names[r] : absl::StrCat("rank ", at);
  }
  int next() const { return (rank + 1) % size; }
  int previous() const { return (rank + size - 1) % size; }
};

}  // namespace shoal

#endif  // SHOAL_RPC_RING_RING_SETTINGS_H_
