#include "rpc/client/split_pull.h"

#include <algorithm>
#include <utility>

namespace shoal {

void SplitPull::Start(int in_flight, OnPart done) {
  const size_t lanes =
      std::min(parts_.size(), static_cast<size_t>(std::max(1, in_flight)));
  {
    MutexLock lock(&mu_);
    done_ = std::move(done);
    lanes_ = lanes;
  }
  for (size_t i = 0; i < lanes; ++i) SendNext();
}

void SplitPull::SendNext() {
  size_t part = 0;
  OnPart done;
  absl::StatusOr<PullReply> result;
  {
    MutexLock lock(&mu_);
    if (error_.ok() && next_ < parts_.size()) {
      part = next_++;
    } else {
      if (--lanes_ > 0) return;
      done = std::move(done_);
      if (error_.ok()) {
        result = reply_;
      } else {
        result = error_;
      }
    }
  }
  if (done != nullptr) return std::move(done)(std::move(result));
  send_(parts_[part],
        [self = shared_from_this()](absl::StatusOr<PullReply> reply) {
          self->OnReply(std::move(reply));
        });
}

void SplitPull::OnReply(absl::StatusOr<PullReply> reply) {
  {
    MutexLock lock(&mu_);
    if (!reply.ok()) {
      if (error_.ok()) error_ = reply.status();
    } else if (!any_) {
      reply_ = *reply;
      any_ = true;
    } else {
      // The versions are of one shard life: each reply was checked against it.
      reply_.version.count =
          std::min(reply_.version.count, reply->version.count);
      reply_.colour = std::max(reply_.colour, reply->colour);
      // A gradient of values from several steps names the first of them, which
      // is closed by then, and is dropped.
      reply_.step = std::min(reply_.step, reply->step);
    }
  }
  SendNext();
}

}  // namespace shoal
