#ifndef SHOAL_PS_TABLE_RESERVED_MEMORY_H_
#define SHOAL_PS_TABLE_RESERVED_MEMORY_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"

namespace shoal {

// A range of addresses that reads as zeros and whose pages take memory when
// they are first written. Huge pages are requested. Owns the range; movable.
class ReservedMemory {
 public:
  // RESOURCE_EXHAUSTED if the system has no such range.
  static absl::StatusOr<ReservedMemory> Create(uint64_t bytes);

  ReservedMemory() = default;
  ReservedMemory(ReservedMemory&& other) noexcept;
  ReservedMemory& operator=(ReservedMemory&& other) noexcept;
  ~ReservedMemory();

  // Gives the memory back and keeps the addresses, which read as zeros from
  // then on. Other threads may be reading: each word that they read is the old
  // word or 0.
  void Clear();

  // The first address. It is on a boundary of 2 MiB if the range is that long,
  // and on a page boundary otherwise.
  char* data() const { return data_; }

 private:
  void* mapping_ = nullptr;
  size_t mapped_ = 0;
  char* data_ = nullptr;
};

}  // namespace shoal

#endif  // SHOAL_PS_TABLE_RESERVED_MEMORY_H_
