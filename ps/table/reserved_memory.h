#ifndef SHOAL_PS_TABLE_RESERVED_MEMORY_H_
#define SHOAL_PS_TABLE_RESERVED_MEMORY_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"

namespace shoal {

// A range of addresses full of zeros, whose pages take memory when they are
// first written. Huge pages are asked for. Owns the range; movable.
class ReservedMemory {
 public:
  // RESOURCE_EXHAUSTED if the system has no such range.
  static absl::StatusOr<ReservedMemory> Create(uint64_t bytes);

  ReservedMemory() = default;
  ReservedMemory(ReservedMemory&& other) noexcept;
  ReservedMemory& operator=(ReservedMemory&& other) noexcept;
  ~ReservedMemory();

  // Gives the memory back and keeps the addresses, which read as zeros from
  // then on. Others may be reading: a word of theirs is the old one or 0.
  void Clear();

  // On a boundary of 2 MiB where the range is that long, of a page otherwise.
  char* data() const { return data_; }

 private:
  void* mapping_ = nullptr;
  size_t mapped_ = 0;
  char* data_ = nullptr;
};

}  // namespace shoal

#endif  // SHOAL_PS_TABLE_RESERVED_MEMORY_H_
