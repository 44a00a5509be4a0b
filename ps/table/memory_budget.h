#ifndef SHOAL_PS_TABLE_MEMORY_BUDGET_H_
#define SHOAL_PS_TABLE_MEMORY_BUDGET_H_

#include <atomic>
#include <cstdint>

namespace shoal {

// Counts the bytes that a shard holds or has reserved for requests in progress,
// and enforces their limit. Thread-safe.
class MemoryBudget {
 public:
  // `limit` is in bytes; 0 is no limit.
  explicit MemoryBudget(uint64_t limit) : limit_(limit) {}

  // Reserves `bytes`, or returns false and reserves nothing.
  bool Reserve(uint64_t bytes) {
    uint64_t held = held_.load(std::memory_order_relaxed);
    do {
      if (limit_ != 0 && (held > limit_ || bytes > limit_ - held)) {
        return false;
      }
    } while (!held_.compare_exchange_weak(held, held + bytes,
                                          std::memory_order_relaxed));
    return true;
  }

  // Gives back bytes that were reserved and not used.
  void Release(uint64_t bytes) {
    held_.fetch_sub(bytes, std::memory_order_relaxed);
  }

  uint64_t held() const { return held_.load(std::memory_order_relaxed); }
  uint64_t limit() const { return limit_; }

 private:
  const uint64_t limit_;
  std::atomic<uint64_t> held_{0};
};

}  // namespace shoal

#endif  // SHOAL_PS_TABLE_MEMORY_BUDGET_H_
