#ifndef SHOAL_TESTS_COORDINATOR_SENT_TO_H_
#define SHOAL_TESTS_COORDINATOR_SENT_TO_H_

#include <cstdint>
#include <variant>
#include <vector>

#include "coordinator/coordinator_actions.h"

namespace shoal {

// The sessions to which the actions send a T, in order. *last, unless null,
// becomes the last of these messages.
template <typename T>
std::vector<uint64_t> SentTo(const CoordinatorActions& actions,
                             T* last = nullptr) {
  std::vector<uint64_t> sessions;
  for (const CoordinatorAction& action : actions) {
    const auto* send = std::get_if<SendAction>(&action);
    if (send == nullptr) continue;
    const T* message = std::get_if<T>(&send->message);
    if (message == nullptr) continue;
    sessions.push_back(send->session);
    if (last != nullptr) *last = *message;
  }
  return sessions;
}

}  // namespace shoal

#endif  // SHOAL_TESTS_COORDINATOR_SENT_TO_H_
