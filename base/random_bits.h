#ifndef SHOAL_BASE_RANDOM_BITS_H_
#define SHOAL_BASE_RANDOM_BITS_H_

#include <cstdint>

namespace shoal {

// 64 bits from the operating system that no other process can predict. For keys
// of a process. Values that a run must repeat come from Philox (base/philox.h).
uint64_t RandomBits();

}  // namespace shoal

#endif  // SHOAL_BASE_RANDOM_BITS_H_
