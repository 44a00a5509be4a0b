#include "job/main_wait.h"

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "base/ignored_signal.h"
#include "job/exit_code.h"

namespace shoal {
namespace {

constexpr int kOurs[] = {SIGINT, SIGTERM, SIGHUP};

// The signals that this process takes: not a SIGHUP that it was started to
// ignore.
sigset_t Ours() {
  sigset_t ours;
  sigemptyset(&ours);
  for (const int signal : kOurs) {
    if (signal != SIGHUP || !IsIgnored(signal)) sigaddset(&ours, signal);
  }
  return ours;
}

// The SIGINTs of a user until the process ends, after QuitOnInterrupt.
volatile sig_atomic_t interrupts_left = 2;

bool IsPassedOn(int code, int value) {
  return code == SI_QUEUE && value == StopSignals::kPassedOn;
}

void CountInterrupt(int, siginfo_t* info, void*) {
  if (IsPassedOn(info->si_code, info->si_value.sival_int)) return;
  interrupts_left = interrupts_left - 1;
  if (interrupts_left <= 0) _exit(kExitStopped);
}

}  // namespace

MainWait::MainWait() : event_fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  struct sigaction end = {};
  end.sa_handler = [](int) { _exit(kExitStopped); };
  const sigset_t ours = Ours();
  for (const int signal : kOurs) {
    if (sigismember(&ours, signal) == 1) sigaction(signal, &end, nullptr);
  }
  sigprocmask(SIG_UNBLOCK, &ours, nullptr);
}

MainWait::~MainWait() {
  if (signal_fd_ >= 0) close(signal_fd_);
  close(event_fd_);
}

void MainWait::Begin() {
  const sigset_t ours = Ours();
  sigprocmask(SIG_BLOCK, &ours, nullptr);
  signal_fd_ = signalfd(-1, &ours, SFD_CLOEXEC | SFD_NONBLOCK);
}

void MainWait::Notify() {
  const uint64_t one = 1;
  // The write can only fail if the counter is full, and then Wait returns
  // anyway.
  [[maybe_unused]] const ssize_t written = write(event_fd_, &one, sizeof(one));
}

void MainWait::WatchInput(int fd, absl::Duration grace) {
  input_fd_ = fd;
  grace_ = grace;
}

bool MainWait::InputEnded() {
  char passed_over[256];
  const ssize_t size = read(input_fd_, passed_over, sizeof(passed_over));
  if (size > 0 || (size < 0 && (errno == EINTR || errno == EAGAIN))) {
    return false;
  }
  input_fd_ = -1;
  // SIGALRM ends the process, which does not handle it.
  alarm(static_cast<unsigned>(std::clamp<int64_t>(
      absl::ToInt64Seconds(absl::Ceil(grace_, absl::Seconds(1))), 1, 3600)));
  return true;
}

MainWait::Event MainWait::Wait(absl::Duration timeout) {
  const absl::Duration bounded =
      std::clamp(timeout, absl::ZeroDuration(), absl::Hours(1));
  // poll ignores a descriptor below 0.
  pollfd fds[3] = {
      {signal_fd_, POLLIN, 0}, {event_fd_, POLLIN, 0}, {input_fd_, POLLIN, 0}};
  poll(fds, 3, static_cast<int>(absl::ToInt64Milliseconds(bounded)));
  uint64_t count;
  [[maybe_unused]] const ssize_t taken = read(event_fd_, &count, sizeof(count));
  signalfd_siginfo info;
  if (read(signal_fd_, &info, sizeof(info)) == sizeof(info)) {
    const int signal = static_cast<int>(info.ssi_signo);
    const bool passed_on = IsPassedOn(info.ssi_code, info.ssi_int);
    return {signals_.On(signal, passed_on), signal, passed_on};
  }
  if (fds[2].revents != 0 && InputEnded()) {
    return {signals_.On(SIGHUP), SIGHUP, false};
  }
  return {};
}

absl::Status MainWait::CheckNotStopped() {
  const Event event = Wait(absl::ZeroDuration());
  if (event.action == StopSignals::Action::kNone) return absl::OkStatus();
  return absl::CancelledError(
      absl::StrCat("stopped by SIG", sigabbrev_np(event.signal)));
}

void MainWait::QuitOnInterrupt(bool interrupted) {
  interrupts_left = interrupted || signals_.next_quits() ? 1 : 2;
  struct sigaction quit = {};
  quit.sa_sigaction = CountInterrupt;
  quit.sa_flags = SA_SIGINFO | SA_RESTART;
  sigaction(SIGINT, &quit, nullptr);
  sigset_t interrupt;
  sigemptyset(&interrupt);
  sigaddset(&interrupt, SIGINT);
  pthread_sigmask(SIG_UNBLOCK, &interrupt, nullptr);
}

}  // namespace shoal
