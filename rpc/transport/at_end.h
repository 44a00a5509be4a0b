#ifndef SHOAL_RPC_TRANSPORT_AT_END_H_
#define SHOAL_RPC_TRANSPORT_AT_END_H_

#include <utility>

#include "absl/functional/any_invocable.h"

namespace shoal {

// Runs a function once, when this object is destroyed. In a posted task, the
// function also runs if an executor that was shut down drops the task.
class AtEnd {
 public:
  explicit AtEnd(absl::AnyInvocable<void() &&> run) : run_(std::move(run)) {}
  AtEnd(AtEnd&& other) noexcept : run_(std::exchange(other.run_, nullptr)) {}
  AtEnd& operator=(AtEnd&&) = delete;
  ~AtEnd() {
    if (run_ != nullptr) std::move(run_)();
  }

 private:
  absl::AnyInvocable<void() &&> run_;
};

}  // namespace shoal

#endif  // SHOAL_RPC_TRANSPORT_AT_END_H_
