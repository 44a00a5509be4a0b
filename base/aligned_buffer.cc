#include "base/aligned_buffer.h"

#include <sys/mman.h>

#include <new>

namespace shoal {
namespace {

constexpr size_t kCacheLine = 64;
constexpr size_t kHugePage = 2 << 20;

}  // namespace

void* AllocateAligned(size_t bytes) {
  const bool huge = bytes >= kHugePage;
  void* memory = nullptr;
  if (posix_memalign(&memory, huge ? kHugePage : kCacheLine, bytes) != 0) {
    throw std::bad_alloc();
  }
  // This is only a hint. A part of a huge page at the end uses small pages.
  if (huge) (void)madvise(memory, bytes / kHugePage * kHugePage, MADV_HUGEPAGE);
  return memory;
}

}  // namespace shoal
