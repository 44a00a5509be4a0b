#ifndef SHOAL_CORE_MESSAGE_MEMORY_H_
#define SHOAL_CORE_MESSAGE_MEMORY_H_

#include <cstdint>

#include "core/session_messages.h"

namespace shoal {

// About how many bytes a message holds, its lists and texts included: for
// bounds on what is kept.
uint64_t MemoryOf(const ProcessMessage& message);
uint64_t MemoryOf(const CoordinatorMessage& message);

}  // namespace shoal

#endif  // SHOAL_CORE_MESSAGE_MEMORY_H_
