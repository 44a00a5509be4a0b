#ifndef SHOAL_PS_TABLE_ROW_LOCK_H_
#define SHOAL_PS_TABLE_ROW_LOCK_H_

#include <atomic>
#include <cstdint>
#include <thread>

#include "ps/table/record_layout.h"

namespace shoal {

// Holds one row's lock byte for its lifetime. A lock is held for the copy or
// the update of a few rows, and no thread waits for one row's lock while it
// holds another, so waiting spins. A waiting thread yields the processor if the
// lock's holder may have been descheduled.
class RowLock {
 public:
  explicit RowLock(RecordHeader* header) : lock_(header->lock) {
    while (lock_.exchange(1, std::memory_order_acquire) != 0) Wait();
  }
  ~RowLock() { lock_.store(0, std::memory_order_release); }
  RowLock(const RowLock&) = delete;
  RowLock& operator=(const RowLock&) = delete;

  // Try takes the lock unless another thread holds it, and returns true if it
  // did. Free gives it back.
  static bool Try(RecordHeader* header) {
    return std::atomic_ref<uint8_t>(header->lock)
               .exchange(1, std::memory_order_acquire) == 0;
  }
  static void Free(RecordHeader* header) {
    std::atomic_ref<uint8_t>(header->lock).store(0, std::memory_order_release);
  }

 private:
  void Wait() {
    for (int spins = 0; lock_.load(std::memory_order_relaxed) != 0; ++spins) {
      if (spins >= 100) std::this_thread::yield();
    }
  }

  std::atomic_ref<uint8_t> lock_;
};

}  // namespace shoal

#endif  // SHOAL_PS_TABLE_ROW_LOCK_H_
