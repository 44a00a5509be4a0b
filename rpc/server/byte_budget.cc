#include "rpc/server/byte_budget.h"

#include "base/check.h"

namespace shoal {

void ByteBudget::Share::ShrinkTo(uint64_t bytes) {
  if (bytes >= bytes_) return;
  const uint64_t back = bytes_ - bytes;
  bytes_ = bytes;
  budget_->GiveBack(owner_, back);
}

bool ByteBudget::OwnerHasRoom(uint64_t owner, uint64_t bytes) const {
  const auto found = by_owner_.find(owner);
  return found == by_owner_.end() || found->second + bytes <= owner_limit_;
}

ByteBudget::Share ByteBudget::Add(uint64_t owner, uint64_t bytes) {
  taken_bytes_ += bytes;
  if (bytes > 0) by_owner_[owner] += bytes;
  return Share(this, owner, bytes);
}

std::optional<ByteBudget::Share> ByteBudget::TryTake(uint64_t owner,
                                                     uint64_t bytes) {
  SHOAL_DCHECK(bytes <= limit_);
  MutexLock lock(&mu_);
  // A waiter whose owner has no room does not keep others from the room.
  for (const Waiter& waiter : waiters_) {
    if (OwnerHasRoom(waiter.owner, waiter.bytes)) return std::nullopt;
  }
  if (bytes > limit_ - taken_bytes_ || !OwnerHasRoom(owner, bytes)) {
    return std::nullopt;
  }
  return Add(owner, bytes);
}

void ByteBudget::Take(uint64_t owner, uint64_t bytes, Taken taken) {
  SHOAL_DCHECK(bytes <= limit_);
  std::vector<Task> served;
  {
    MutexLock lock(&mu_);
    waiters_.push_back({owner, bytes, std::move(taken)});
    served = ServeWaiters();
  }
  Post(std::move(served));
}

uint64_t ByteBudget::taken_bytes() const {
  MutexLock lock(&mu_);
  return taken_bytes_;
}

void ByteBudget::GiveBack(uint64_t owner, uint64_t bytes) {
  std::vector<Task> served;
  {
    MutexLock lock(&mu_);
    taken_bytes_ -= bytes;
    const auto found = by_owner_.find(owner);
    found->second -= bytes;
    if (found->second == 0) by_owner_.erase(found);
    served = ServeWaiters();
  }
  Post(std::move(served));
}

// Called without the lock, because an executor that was shut down destroys the
// tasks, and with them their shares.
void ByteBudget::Post(std::vector<Task> tasks) {
  for (Task& task : tasks) executor_->Post(std::move(task));
}

std::vector<Task> ByteBudget::ServeWaiters() {
  std::vector<Task> served;
  for (auto it = waiters_.begin(); it != waiters_.end();) {
    const auto waiter = it++;
    if (!OwnerHasRoom(waiter->owner, waiter->bytes)) continue;
    if (waiter->bytes > limit_ - taken_bytes_) break;
    served.push_back([share = Add(waiter->owner, waiter->bytes),
                      taken = std::move(waiter->taken)]() mutable {
      std::move(taken)(std::move(share));
    });
    waiters_.erase(waiter);
  }
  return served;
}

}  // namespace shoal
