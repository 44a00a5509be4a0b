#ifndef SHOAL_BASE_ALIGNED_BUFFER_H_
#define SHOAL_BASE_ALIGNED_BUFFER_H_

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <type_traits>
#include <utility>

#include "absl/types/span.h"

namespace shoal {

// Allocates `bytes` of memory on a 64-byte boundary; release it with std::free.
// From 2 MiB on the memory starts on the boundary of a huge page, and uses huge
// pages if the system has them. Throws std::bad_alloc.
void* AllocateAligned(size_t bytes);

// Memory for numbers that starts on a 64-byte boundary (see AllocateAligned).
// The memory is kept when the size shrinks, since fresh pages cost more than
// the work done in them. T is trivial; new elements have no value until
// written. Thread-compatible.
template <typename T>
class AlignedBuffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  static constexpr size_t kAlignment = 64;

  AlignedBuffer() = default;
  explicit AlignedBuffer(size_t size) { ResizeDiscard(size); }
  AlignedBuffer(AlignedBuffer&& other) noexcept { *this = std::move(other); }
  AlignedBuffer& operator=(AlignedBuffer&& other) noexcept {
    data_ = std::move(other.data_);
    size_ = std::exchange(other.size_, 0);
    capacity_ = std::exchange(other.capacity_, 0);
    return *this;
  }

  // Sets the size. The contents are undefined afterwards. Allocates only if
  // `size` exceeds every earlier size.
  void ResizeDiscard(size_t size) {
    if (size > capacity_) {
      data_.reset();
      capacity_ = 0;
      data_.reset(static_cast<T*>(AllocateAligned(size * sizeof(T))));
      capacity_ = size;
    }
    size_ = size;
  }

  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T& operator[](size_t i) { return data_.get()[i]; }
  const T& operator[](size_t i) const { return data_.get()[i]; }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  absl::Span<T> span() { return absl::Span<T>(data(), size_); }
  absl::Span<const T> span() const {
    return absl::Span<const T>(data(), size_);
  }

 private:
  struct Free {
    void operator()(T* p) const { std::free(p); }
  };
  std::unique_ptr<T, Free> data_;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

}  // namespace shoal

#endif  // SHOAL_BASE_ALIGNED_BUFFER_H_
