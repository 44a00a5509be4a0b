#ifndef SHOAL_CORE_MESSAGE_MEMORY_H_
#define SHOAL_CORE_MESSAGE_MEMORY_H_

#include <cstdint>

#include "core/session_messages.h"

namespace shoal {

// The approximate size of a message in memory, in bytes, with its lists and
// texts. For limits on kept messages.
uint64_t MemoryOf(const ProcessMessage& message);
uint64_t MemoryOf(const CoordinatorMessage& message);

}  // namespace shoal

#endif  // SHOAL_CORE_MESSAGE_MEMORY_H_
