#ifndef SHOAL_WIRE_CODEC_WIRE_BUFFER_H_
#define SHOAL_WIRE_CODEC_WIRE_BUFFER_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "base/aligned_buffer.h"
#include "base/object_pool.h"

namespace shoal {

class WireBuffer;

// Keeps the memory of sent messages for later messages. The reason is that
// fresh pages cost several times as much as writing to them. A pool is shared,
// because the transport may hold a message longer than its sender exists.
// Thread-safe.
class WireBufferPool : public std::enable_shared_from_this<WireBufferPool> {
 public:
  // Keeps at most `max_kept_bytes` of memory that is not in use.
  static std::shared_ptr<WireBufferPool> Create(uint64_t max_kept_bytes);
  ~WireBufferPool();

  // Bytes of memory that a buffer of `size` bytes takes.
  static uint64_t Capacity(uint64_t size);
  // A buffer of at least `size` bytes on a 64-byte boundary, with one
  // reference; its contents are undefined.
  WireBuffer* Take(uint64_t size);

 private:
  friend class WireBuffer;
  explicit WireBufferPool(uint64_t max_kept_bytes);
  void Return(std::unique_ptr<WireBuffer> buffer);

  // Indexed by the logarithm of the capacity, which is a power of two.
  ObjectPool<WireBuffer, 64> kept_;
};

// Memory that several slices of a message share. It goes back to its pool when
// the last reference is dropped, on any thread.
class WireBuffer {
 public:
  char* data() { return bytes_.data(); }
  uint64_t capacity() const { return bytes_.size(); }
  uint64_t kept_bytes() const { return capacity(); }

  void Ref() { references_.fetch_add(1, std::memory_order_acq_rel); }
  void Unref();

 private:
  friend class WireBufferPool;

  std::atomic<int> references_{1};
  AlignedBuffer<char> bytes_;
  std::shared_ptr<WireBufferPool> pool_;  // null while the pool keeps it
};

// Owns one reference to a buffer, or none. Thread-compatible.
class WireBufferRef {
 public:
  WireBufferRef() = default;
  explicit WireBufferRef(WireBuffer* taken) : buffer_(taken) {}
  WireBufferRef(WireBufferRef&& other) noexcept
      : buffer_(std::exchange(other.buffer_, nullptr)) {}
  WireBufferRef& operator=(WireBufferRef&& other) noexcept {
    std::swap(buffer_, other.buffer_);
    return *this;
  }
  ~WireBufferRef() {
    if (buffer_ != nullptr) buffer_->Unref();
  }

  WireBuffer* get() const { return buffer_; }
  char* data() const { return buffer_->data(); }

 private:
  WireBuffer* buffer_ = nullptr;
};

// An encoded message: the bytes of `fragments`, one after another. The
// fragments point into `buffer`.
struct WireMessage {
  WireBufferRef buffer;
  std::vector<absl::string_view> fragments;
  uint64_t size = 0;  // bytes of all fragments
};

// Counts the bulk bytes (ids, values, gradients) that went through a codec, and
// the bytes that the codec copied for them. Thread-safe.
struct CopyCounter {
  // With `payload_total` the payload is added there too.
  explicit CopyCounter(std::atomic<uint64_t>* payload_total = nullptr)
      : total(payload_total) {}

  std::atomic<uint64_t>* const total;
  std::atomic<uint64_t> payload_bytes{0};
  std::atomic<uint64_t> copied_bytes{0};

  void Add(uint64_t payload, uint64_t copied) {
    payload_bytes.fetch_add(payload, std::memory_order_relaxed);
    if (total != nullptr) total->fetch_add(payload, std::memory_order_relaxed);
    copied_bytes.fetch_add(copied, std::memory_order_relaxed);
  }
};

}  // namespace shoal

#endif  // SHOAL_WIRE_CODEC_WIRE_BUFFER_H_
