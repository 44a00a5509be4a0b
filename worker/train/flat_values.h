#ifndef SHOAL_WORKER_TRAIN_FLAT_VALUES_H_
#define SHOAL_WORKER_TRAIN_FLAT_VALUES_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "absl/types/span.h"

namespace shoal {

// Arrays of numbers, or of structs of numbers, that lie in bytes one behind
// another, as ranks send them to each other (rank_part.h, step_memory.h).

static_assert(std::endian::native == std::endian::little,
              "the numbers are copied, and used, as they lie");

// Appends to a buffer that is large enough, and moves *to behind the values.
template <typename T>
void AppendValues(const T* from, size_t count, char** to) {
  const size_t bytes = count * sizeof(T);
  if (bytes == 0) return;  // `from` may be null
  std::memcpy(*to, from, bytes);
  *to += bytes;
}

// Takes `count` values from the front of *bytes, or returns false if there are
// fewer; any count may come. The values lie in the bytes. REQUIRES: the front
// is aligned for T.
template <typename T>
bool TakeValues(uint64_t count, absl::Span<const char>* bytes,
                absl::Span<const T>* values) {
  // No product can overflow.
  if (count > bytes->size() / sizeof(T)) return false;
  *values = absl::MakeConstSpan(reinterpret_cast<const T*>(bytes->data()),
                                static_cast<size_t>(count));
  bytes->remove_prefix(static_cast<size_t>(count) * sizeof(T));
  return true;
}

}  // namespace shoal

#endif  // SHOAL_WORKER_TRAIN_FLAT_VALUES_H_
