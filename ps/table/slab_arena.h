#ifndef SHOAL_PS_TABLE_SLAB_ARENA_H_
#define SHOAL_PS_TABLE_SLAB_ARENA_H_

#include <cstddef>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "base/mutex.h"
#include "ps/table/record_layout.h"
#include "ps/table/reserved_memory.h"

namespace shoal {

// Cells for records, in slabs that never move: a cell's address is good for as
// long as the arena lives. Memory is taken when a cell is first written, in
// huge pages where the system has them. Thread-safe.
class SlabArena {
 public:
  // REQUIRES: stride a multiple of 16 bytes.
  explicit SlabArena(size_t stride);

  // Overwrites *cells with n free cells, full of zeros. RESOURCE_EXHAUSTED: no
  // addresses; nothing was taken.
  absl::Status Take(size_t n, std::vector<RecordHeader*>* cells);

  // Gives back cells that were never written.
  void GiveBack(absl::Span<RecordHeader* const> cells);

 private:
  const size_t stride_;
  const size_t slabs_of_range_;
  Mutex mu_;
  std::vector<ReservedMemory> ranges_ ABSL_GUARDED_BY(mu_);
  size_t left_ ABSL_GUARDED_BY(mu_) = 0;  // cells of the last range
  char* next_ ABSL_GUARDED_BY(mu_) = nullptr;
  std::vector<RecordHeader*> returned_ ABSL_GUARDED_BY(mu_);
};

}  // namespace shoal

#endif  // SHOAL_PS_TABLE_SLAB_ARENA_H_
