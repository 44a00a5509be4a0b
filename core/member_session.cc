#include "core/member_session.h"

#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "core/message_memory.h"

namespace shoal {

void MemberSession::Send(ProcessMessage message) {
  const uint64_t bytes = MemoryOf(message);
  MutexLock lock(&mu_);
  if (closed_) return;
  // Under the lock, so that messages of several threads are sent in the order
  // of their numbers.
  if (connection_ != nullptr) connection_->Send(message);
  sent_.Add(std::move(message), bytes);
}

absl::Status MemberSession::Carry(std::shared_ptr<ClusterSession> connection,
                                  uint64_t taken) {
  MutexLock lock(&mu_);
  SHOAL_ASSIGN_OR_RETURN(std::vector<ProcessMessage> messages,
                         sent_.After(taken));
  sent_.Acknowledge(taken);
  connection_ = std::move(connection);
  for (ProcessMessage& message : messages) {
    connection_->Send(std::move(message));
  }
  return absl::OkStatus();
}

void MemberSession::Acknowledge(uint64_t taken) {
  MutexLock lock(&mu_);
  sent_.Acknowledge(taken);
}

void MemberSession::Break() {
  std::shared_ptr<ClusterSession> broken;  // ends without the lock
  MutexLock lock(&mu_);
  broken.swap(connection_);
}

void MemberSession::Close() {
  std::shared_ptr<ClusterSession> closed;
  MutexLock lock(&mu_);
  closed_ = true;
  closed.swap(connection_);
}

}  // namespace shoal
