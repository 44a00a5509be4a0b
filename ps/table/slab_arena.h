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

// Memory for records: cells in slabs that never move. The address of a cell is
// valid for the lifetime of the arena. Memory is allocated when a cell is first
// written, in huge pages if the system has them. Thread-safe.
class SlabArena {
 public:
  // REQUIRES: `stride` is a multiple of 16 bytes.
  explicit SlabArena(size_t stride);

  // Overwrites *cells with n free cells, full of zeros. RESOURCE_EXHAUSTED if
  // there are no addresses; then no cell was taken.
  absl::Status Take(size_t n, std::vector<RecordHeader*>* cells);

  // Gives back cells that were never written.
  void GiveBack(absl::Span<RecordHeader* const> cells);

 private:
  const size_t stride_;
  const size_t slabs_of_range_;
  Mutex mu_;
  std::vector<ReservedMemory> ranges_ ABSL_GUARDED_BY(mu_);
  size_t left_ ABSL_GUARDED_BY(mu_) = 0;  // free cells of the last range
  char* next_ ABSL_GUARDED_BY(mu_) = nullptr;
  std::vector<RecordHeader*> returned_ ABSL_GUARDED_BY(mu_);
};

}  // namespace shoal

#endif  // SHOAL_PS_TABLE_SLAB_ARENA_H_
