#ifndef SHOAL_RPC_CLIENT_SPLIT_PULL_H_
#define SHOAL_RPC_CLIENT_SPLIT_PULL_H_

#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/mutex.h"
#include "core/parameter_service.h"

namespace shoal {

// Sends one pull as several smaller pulls. Its calls keep it alive.
// Thread-safe.
class SplitPull : public std::enable_shared_from_this<SplitPull> {
 public:
  using OnPart = absl::AnyInvocable<void(absl::StatusOr<PullReply>) &&>;
  // Sends one part, and calls OnPart once, on any thread.
  using Send = absl::AnyInvocable<void(const PullRequest&, OnPart)>;

  SplitPull(std::vector<PullRequest> parts, Send send)
      : parts_(std::move(parts)), send_(std::move(send)) {}

  // Sends the parts with at most `in_flight` calls at once. `done` runs once,
  // when every part that was sent is over. It gets the oldest version, the
  // least step and the highest colour of the parts, or the first error.
  void Start(int in_flight, OnPart done);

 private:
  // The next step of a lane: sends a part, or ends the lane if no part is left.
  // The lane that ends last calls done_.
  void SendNext();
  void OnReply(absl::StatusOr<PullReply> reply);

  const std::vector<PullRequest> parts_;
  Send send_;  // thread-safe

  Mutex mu_;
  size_t next_ ABSL_GUARDED_BY(mu_) = 0;
  size_t lanes_ ABSL_GUARDED_BY(mu_) = 0;  // each with a call under way
  bool any_ ABSL_GUARDED_BY(mu_) = false;  // reply_ has the reply of a part
  PullReply reply_ ABSL_GUARDED_BY(mu_);
  absl::Status error_ ABSL_GUARDED_BY(mu_);
  OnPart done_ ABSL_GUARDED_BY(mu_);
};

}  // namespace shoal

#endif  // SHOAL_RPC_CLIENT_SPLIT_PULL_H_
