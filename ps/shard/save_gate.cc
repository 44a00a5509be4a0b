#include "ps/shard/save_gate.h"

#include "absl/strings/str_cat.h"

namespace shoal {

bool SaveGate::Enter() {
  MutexLock lock(&mu_);
  if (closers_ > 0) return false;
  ++inside_;
  return true;
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
