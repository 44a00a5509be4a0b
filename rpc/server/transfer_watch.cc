#include "rpc/server/transfer_watch.h"

#include <iterator>

namespace shoal {

TransferWatch::Entry TransferWatch::Add(grpc::ServerContext* context) {
  const absl::Time until = executor_->Now() + limit_;
  MutexLock lock(&mu_);
  auto place = transfers_.end();
  while (place != transfers_.begin() && std::prev(place)->until > until) {
    --place;
  }
  const Entry entry = transfers_.insert(place, {context, until});
  if (!scheduled_) ScheduleCheck(until);
  return entry;
}

void TransferWatch::Remove(Entry entry) {
  MutexLock lock(&mu_);
  transfers_.erase(entry);
}

void TransferWatch::ScheduleCheck(absl::Time when) {
  scheduled_ = true;
  executor_->PostAt(when, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->Check();
  });
}

void TransferWatch::Check() {
  const absl::Time now = executor_->Now();
  MutexLock lock(&mu_);
  scheduled_ = false;
  while (!transfers_.empty() && transfers_.front().until <= now) {
    const Entry late = transfers_.begin();
    late->until = absl::InfiniteFuture();
    late->context->TryCancel();
    transfers_.splice(transfers_.end(), transfers_, late);
  }
  if (!transfers_.empty() &&
      transfers_.front().until != absl::InfiniteFuture()) {
    ScheduleCheck(transfers_.front().until);
  }
}

}  // namespace shoal
