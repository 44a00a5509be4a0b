#include "cmd/main_wait.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>

namespace shoal {

MainWait::MainWait() {
  sigset_t ours;
  sigemptyset(&ours);
  sigaddset(&ours, SIGINT);
  sigaddset(&ours, SIGTERM);
  sigaddset(&ours, SIGHUP);
  sigprocmask(SIG_BLOCK, &ours, nullptr);
  signal_fd_ = signalfd(-1, &ours, SFD_CLOEXEC | SFD_NONBLOCK);
  event_fd_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

MainWait::~MainWait() {
  close(signal_fd_);
  close(event_fd_);
}

void MainWait::Notify() {
  const uint64_t one = 1;
  // It can only fail where the counter is full, so that Wait returns anyway.
  [[maybe_unused]] const ssize_t written = write(event_fd_, &one, sizeof(one));
}

int MainWait::Wait(absl::Duration timeout) {
  const absl::Duration bounded =
      std::clamp(timeout, absl::ZeroDuration(), absl::Hours(1));
  pollfd fds[2] = {{signal_fd_, POLLIN, 0}, {event_fd_, POLLIN, 0}};
  poll(fds, 2, static_cast<int>(absl::ToInt64Milliseconds(bounded)));
  uint64_t count;
  [[maybe_unused]] const ssize_t taken = read(event_fd_, &count, sizeof(count));
  signalfd_siginfo info;
  if (read(signal_fd_, &info, sizeof(info)) == sizeof(info)) {
    return static_cast<int>(info.ssi_signo);
  }
  return 0;
}

}  // namespace shoal
