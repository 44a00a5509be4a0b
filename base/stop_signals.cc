#include "base/stop_signals.h"

#include <signal.h>

#include "base/check.h"

namespace shoal {

StopSignals::Action StopSignals::On(int signal, bool passed_on) {
  SHOAL_DCHECK(signal == SIGINT || signal == SIGTERM || signal == SIGHUP);
  const bool by_user = signal == SIGINT && !passed_on;
  const State before = state_;
  if (by_user) {
    state_ = State::kInterrupted;
  } else if (before == State::kRunning) {
    state_ = State::kStopping;
  }
  if (before == State::kRunning) {
    first_ = signal;
    return Action::kStop;
  }
  if (!by_user) return Action::kNone;
  return before == State::kStopping ? Action::kRemind : Action::kQuit;
}

}  // namespace shoal
