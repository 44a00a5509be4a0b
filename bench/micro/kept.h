#ifndef SHOAL_BENCH_MICRO_KEPT_H_
#define SHOAL_BENCH_MICRO_KEPT_H_

#include <memory>

namespace shoal {

// What takes seconds to make, kept while the next benchmark wants the same: a T
// made of `key`, alive until T is wanted of another. The old one ends before
// the new one is made, so that there is memory for one. For one thread.
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
