#ifndef SHOAL_BENCH_MICRO_KEPT_H_
#define SHOAL_BENCH_MICRO_KEPT_H_

#include <memory>

namespace shoal {

// Keeps an object that takes seconds to make for the next benchmark that needs
// the same object. A T is made from `key` and lives until a T with another key
// is needed. The old T is destroyed before the new one is made, so that both
// need not fit into memory. For one thread.
template <typename T, typename Key>
T& Kept(const Key& key) {
  static std::unique_ptr<T> kept;
  static Key of;
  if (kept == nullptr || !(of == key)) {
    kept.reset();
    kept = std::make_unique<T>(key);
    of = key;
  }
  return *kept;
}

}  // namespace shoal

#endif  // SHOAL_BENCH_MICRO_KEPT_H_
