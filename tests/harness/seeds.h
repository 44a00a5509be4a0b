#ifndef SHOAL_TESTS_HARNESS_SEEDS_H_
#define SHOAL_TESTS_HARNESS_SEEDS_H_

#include <cstdint>
#include <cstdlib>

namespace shoal {

// The seeds with which a test runs each of its simulations, from 1: `usually`
// of them, or as many as the variable SHOAL_SEEDS says, by which
// tools/check.sh --long asks for more (shoal_long_seeds in CMake).
inline uint64_t Seeds(uint64_t usually) {
  const char* const asked = std::getenv("SHOAL_SEEDS");
  return asked == nullptr ? usually : std::strtoull(asked, nullptr, 10);
}

}  // namespace shoal

#endif  // SHOAL_TESTS_HARNESS_SEEDS_H_
