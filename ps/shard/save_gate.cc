#include "ps/shard/save_gate.h"

#include "absl/strings/str_cat.h"

namespace shoal {

bool SaveGate::Enter(Passage* passage) {
  MutexLock lock(&mu_);
  if (closers_ > 0) return false;
  passage->came_alone_ = inside_++ == 0;
  passage->number_ = ++passed_;
  return true;
}

bool SaveGate::Alone(const Passage& passage) {
  MutexLock lock(&mu_);
  return passage.came_alone_ && passed_ == passage.number_;
}

void SaveGate::Leave() {
  MutexLock lock(&mu_);
  if (--inside_ == 0 && closers_ > 0) empty_.SignalAll();
}

absl::Status SaveGate::Close(absl::Duration timeout) {
  MutexLock lock(&mu_);
  ++closers_;
  while (inside_ > 0) {
    if (!empty_.WaitFor(&mu_, timeout) || inside_ == 0) continue;
    --closers_;
    return absl::DeadlineExceededError(absl::StrCat(
        inside_, " requests that may change the shard did not end within ",
        absl::FormatDuration(timeout)));
  }
  return absl::OkStatus();
}

void SaveGate::Open() {
  MutexLock lock(&mu_);
  --closers_;
}

}  // namespace shoal
