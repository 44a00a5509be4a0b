#ifndef SHOAL_BASE_RANDOM_BITS_H_
#define SHOAL_BASE_RANDOM_BITS_H_

#include <cstdint>

namespace shoal {

// 64 bits that no other process can predict, from the operating system. For
// keys of a process, never for what a run must repeat: that is Philox's
// (base/philox.h).
uint64_t RandomBits();

}  // namespace shoal

#endif  // SHOAL_BASE_RANDOM_BITS_H_
