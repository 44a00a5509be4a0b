#include "wire/codec/wire_buffer.h"

#include <algorithm>
#include <bit>

namespace shoal {
namespace {

constexpr uint64_t kMinCapacity = 4096;

}  // namespace

std::shared_ptr<WireBufferPool> WireBufferPool::Create(
    uint64_t max_kept_bytes) {
  return std::shared_ptr<WireBufferPool>(new WireBufferPool(max_kept_bytes));
}

WireBufferPool::WireBufferPool(uint64_t max_kept_bytes)
    : kept_(max_kept_bytes) {}

WireBufferPool::~WireBufferPool() = default;

uint64_t WireBufferPool::Capacity(uint64_t size) {
  return std::bit_ceil(std::max(size, kMinCapacity));
}

WireBuffer* WireBufferPool::Take(uint64_t size) {
  const uint64_t capacity = Capacity(size);
  std::unique_ptr<WireBuffer> buffer =
      kept_.TakeKept(std::countr_zero(capacity));
  if (buffer == nullptr) {
    buffer = std::make_unique<WireBuffer>();
    buffer->bytes_.ResizeDiscard(capacity);
  }
  buffer->references_.store(1, std::memory_order_relaxed);
  buffer->pool_ = shared_from_this();
  return buffer.release();
}

void WireBufferPool::Return(std::unique_ptr<WireBuffer> buffer) {
  const uint64_t capacity = buffer->capacity();
  kept_.Return(std::move(buffer), std::countr_zero(capacity));
}

void WireBuffer::Unref() {
  if (references_.fetch_sub(1, std::memory_order_acq_rel) > 1) return;
  // This may be the last reference to the pool: keep the pool until Return has
  // returned.
  const std::shared_ptr<WireBufferPool> pool = std::move(pool_);
  pool->Return(std::unique_ptr<WireBuffer>(this));
}

}  // namespace shoal
