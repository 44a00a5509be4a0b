#include "base/random_bits.h"

#include <sys/random.h>

#include <cerrno>
#include <chrono>

#include "base/stable_hash.h"

namespace shoal {

uint64_t RandomBits() {
  uint64_t bits = 0;
  ssize_t got = 0;
  do {
    got = getrandom(&bits, sizeof(bits), 0);
  } while (got < 0 && errno == EINTR);
  if (got == sizeof(bits)) return bits;
  // A sandbox may forbid the call: then use the time and the address of the
  // stack.
  const auto now = std::chrono::high_resolution_clock::now();
  return StableHashCombine(
      static_cast<uint64_t>(now.time_since_epoch().count()),
      reinterpret_cast<uintptr_t>(&bits));
}

}  // namespace shoal
