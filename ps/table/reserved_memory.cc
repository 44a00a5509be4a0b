#include "ps/table/reserved_memory.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"

namespace shoal {
namespace {

constexpr uint64_t kHugePage = uint64_t{2} << 20;
// The range that a process can address on every 64-bit host that we know.
constexpr uint64_t kBytesMax = uint64_t{1} << 46;

}  // namespace

absl::StatusOr<ReservedMemory> ReservedMemory::Create(uint64_t bytes) {
  if (bytes > kBytesMax) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "cannot reserve ", bytes, " bytes of addresses; the most is 2^46"));
  }
  ReservedMemory memory;
  if (bytes == 0) return memory;
  const bool huge = bytes >= kHugePage;
  const uint64_t length = bytes + (huge ? kHugePage : 0);
  void* mapping = mmap(nullptr, length, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "cannot reserve ", bytes, " bytes of addresses: ", std::strerror(errno),
        "; raise the limit (ulimit -v) or use more shards"));
  }
  memory.mapping_ = mapping;
  memory.mapped_ = length;
  memory.data_ = static_cast<char*>(mapping);
  if (huge) {
    const uintptr_t start = reinterpret_cast<uintptr_t>(mapping);
    memory.data_ += (kHugePage - start % kHugePage) % kHugePage;
    // This is only advice: without huge pages the memory is slower, but not
    // wrong.
    (void)madvise(memory.data_, bytes, MADV_HUGEPAGE);
  }
  return memory;
}

ReservedMemory::ReservedMemory(ReservedMemory&& other) noexcept {
  *this = std::move(other);
}

ReservedMemory& ReservedMemory::operator=(ReservedMemory&& other) noexcept {
  std::swap(mapping_, other.mapping_);
  std::swap(mapped_, other.mapped_);
  std::swap(data_, other.data_);
  return *this;
}

void ReservedMemory::Clear() {
  // If the call fails, the memory is held for longer and keeps its words.
  if (mapping_ != nullptr) (void)madvise(mapping_, mapped_, MADV_DONTNEED);
}

ReservedMemory::~ReservedMemory() {
  if (mapping_ != nullptr) munmap(mapping_, mapped_);
}

}  // namespace shoal
